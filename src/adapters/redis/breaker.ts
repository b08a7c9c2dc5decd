import type { Clock } from '../../ports/clock.ts';

/**
 * `closed`: all commands are sent. `open`: no commands are sent. `half-open`: one command is sent to find out whether
 * Redis is back.
 */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** Number of consecutive failures after which the breaker opens. */
const failuresToOpen = 3;
const firstOpenMs = 250;
const longestOpenMs = 5_000;

/**
 * Keeps requests from waiting for a dead Redis. After several failures in a row, the breaker lets through only one
 * command at a time, with a pause before each.
 */
export class Breaker {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #onState: (state: BreakerState) => void;
  #state: BreakerState = 'closed';
  #failures = 0;
  #openMs = firstOpenMs;
  #tryAtMs = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, onState: (state: BreakerState) => void = () => undefined) {
    this.#clock = clock;
    this.#onState = onState;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Returns whether to send a command. In the `half-open` state, only one caller gets `true`. */
  allows(): boolean {
    if (this.#state === 'closed') return true;
    if (this.#clock.monotonicMs() < this.#tryAtMs) return false;
    // If this caller never reports a result, another caller may send a command after `#openMs`.
    this.#tryAtMs = this.#clock.monotonicMs() + this.#openMs;
    this.#become('half-open');
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openMs = firstOpenMs;
    this.#become('closed');
  }

  failed(): void {
    this.#failures += 1;
    if (this.#state === 'closed' && this.#failures < failuresToOpen) return;
    if (this.#state === 'half-open') this.#openMs = Math.min(this.#openMs * 2, longestOpenMs);
    this.#tryAtMs = this.#clock.monotonicMs() + this.#openMs;
    this.#become('open');
  }

  #become(state: BreakerState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#onState(state);
  }
}
