import type { Clock } from '../ports/clock.ts';

/** A round trip that took longer than this says too little about the time in the store. */
const longestMs = 1_000;

/**
 * The time in the store, by which hours begin: the clocks of replicas may differ. Between two responses of the store it goes
 * on by the monotonic clock, so a wall clock that is set does not move counts to another hour.
 */
export class StoreClock {
  readonly #clock: Clock;
  /** By how much the store's clock is ahead of the monotonic one. */
  #aheadMs: number;
  #known = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#aheadMs = clock.wallMs() - clock.monotonicMs();
  }

  /** Whole milliseconds since 1970. */
  nowMs(): number {
    return Math.floor(this.#clock.monotonicMs() + this.#aheadMs);
  }

  /** Makes a call that says what time it is in the store, which is somewhere between its beginning and its end here. */
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
