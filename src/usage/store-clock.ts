import type { Clock } from '../ports/clock.ts';

/**
 * A response sets the clock only if its round trip took at most this many milliseconds. The first response always sets
 * the clock.
 */
const longestMs = 1_000;

/**
 * Estimates the store's clock. Usage is assigned to hours by the store's clock, because the replicas' clocks may
 * differ. Between responses from the store, the estimate follows the monotonic clock, so that setting the wall clock
 * does not move counts to another hour.
 */
export class StoreClock {
  readonly #clock: Clock;
  /** Milliseconds by which the store's clock is ahead of the monotonic clock. */
  #aheadMs: number;
  #known = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#aheadMs = clock.wallMs() - clock.monotonicMs();
  }

  /** Current time by the store's clock, in whole milliseconds since 1970. */
  nowMs(): number {
    return Math.floor(this.#clock.monotonicMs() + this.#aheadMs);
  }

  /**
   * Calls the store, and sets this clock from the result's `nowMs`. The store read `nowMs` from its own clock during
   * the call.
   */
  async during<Result extends { readonly nowMs: number }>(call: () => Promise<Result>): Promise<Result> {
    const beganMs = this.#clock.monotonicMs();
    const result = await call();
    const tookMs = this.#clock.monotonicMs() - beganMs;
    if (this.#known && tookMs > longestMs) return result;
    this.#aheadMs = result.nowMs - beganMs - tookMs / 2;
    this.#known = true;
    return result;
  }
}
