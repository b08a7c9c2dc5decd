import type { Clock } from '../ports/clock.ts';

/**
 * The store's clock as this replica knows it, updated with each lease renewal. Everything expires by this clock, on all
 * replicas and in the store. A replica's own wall clock may end the replica's lease early, but never extends it.
 */
export class StoreClock implements Clock {
  readonly #own: Clock;
  /** Milliseconds by which the store's clock is ahead of this machine's monotonic clock. */
  #aheadOfMonotonicMs: number | undefined;
  #aheadMs: number | null = null;

  /** @param own the clocks of this machine */
  constructor(own: Clock) {
    this.#own = own;
  }

  /** Milliseconds by which this machine's wall clock is ahead of the store's; `null` before the first renewal. */
  get aheadMs(): number | null {
    return this.#aheadMs;
  }

  /**
   * Sets the time from a response that has just arrived.
   *
   * The store read its clock at some point between `sentMs` and now. This clock assumes the earliest possible point,
   * `sentMs`. So this clock is never behind the store's clock, and at most a round trip ahead of it. A key is therefore
   * never accepted after it has expired.
   *
   * @param storeMs time on the store's clock
   * @param sentMs when the request was sent to the store, on this machine's monotonic clock
   */
  learn(storeMs: number, sentMs: number): void {
    const tookMs = this.#own.monotonicMs() - sentMs;
    this.#aheadOfMonotonicMs = storeMs - sentMs;
    this.#aheadMs = Math.round(this.#own.wallMs() - tookMs / 2 - storeMs);
  }

  monotonicMs(): number {
    return this.#own.monotonicMs();
  }

  /** Returns the store's time. Before the first renewal, returns this machine's time; nothing is decided yet then. */
  wallMs(): number {
    const aheadMs = this.#aheadOfMonotonicMs;
    return aheadMs === undefined ? this.#own.wallMs() : Math.floor(this.#own.monotonicMs() + aheadMs);
  }
}

/** Operators are warned if this machine's wall clock and the store's clock differ by more milliseconds than this. */
const worthAWarningMs = 1_000;

/**
 * Returns a function that warns when this machine's wall clock begins to differ too much from the store's clock. After
 * a warning, the function stays silent until the difference has been small again.
 */
export function clockWarnings(warn: (fields: object, message: string) => void): (aheadMs: number) => void {
  let wrong = false;
  return (aheadMs) => {
    const now = Math.abs(aheadMs) > worthAWarningMs;
    if (now && !wrong)
      warn(
        { clock_offset_ms: aheadMs },
        "the clock of this machine differs from PostgreSQL's: times in logs and usage are wrong",
      );
    wrong = now;
  };
}
