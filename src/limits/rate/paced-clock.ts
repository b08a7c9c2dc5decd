import type { Clock } from '../../ports/clock.ts';

/** Shortest and longest time between two readings that set the pace. */
const leastMs = 5_000;
const mostMs = 60_000;
/** Difference in pace from which a clock must have jumped. */
const mostDrift = 0.1;

/**
 * The monotonic clock of this machine at the pace of the store's clock, so that all replicas fill a bucket equally
 * fast. It never goes back.
 */
export class PacedClock {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #anchor: { readonly ownMs: number; readonly storeMs: number } | undefined;
  #baseMs: number;
  #sinceMs: number;
  #pace = 1;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#baseMs = clock.monotonicMs();
    this.#sinceMs = this.#baseMs;
  }

  /** @param ownMs the machine's clock, read just now */
  nowMs(ownMs = this.#clock.monotonicMs()): number {
    return this.#baseMs + (ownMs - this.#sinceMs) * this.#pace;
  }

  /** @param storeMs the store's clock, read just now */
  note(storeMs: number): void {
    const ownMs = this.#clock.monotonicMs();
    this.#anchor ??= { ownMs, storeMs };
    const own = ownMs - this.#anchor.ownMs;
    if (own < leastMs) return;
    const pace = (storeMs - this.#anchor.storeMs) / own;
    const isSane = Math.abs(pace - 1) <= mostDrift;
    if (isSane) {
      this.#baseMs = this.nowMs();
      this.#sinceMs = ownMs;
      this.#pace = pace;
    }
    if (!isSane || own >= mostMs) this.#anchor = { ownMs, storeMs };
  }
}
