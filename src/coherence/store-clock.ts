import type { Clock } from '../ports/clock.ts';

/**
 * The store's clock, as this replica learns it with each renewal of its lease: what expires does so by this one clock for all
 * replicas and for the store, and a wall clock of a replica decides nothing.
 */
export class StoreClock implements Clock {
  readonly #own: Clock;
  /** What the store's clock says, less this machine's monotonic one. */
  #aheadOfMonotonicMs: number | undefined;
  #aheadMs: number | null = null;

  /** @param own the clocks of this machine */
  constructor(own: Clock) {
    this.#own = own;
  }

  /** By how much the wall clock of this machine is ahead of the store's; `null` before the first renewal. */
  get aheadMs(): number | null {
    return this.#aheadMs;
  }

  /**
   * Learns the time from a response that has come just now.
   *
   * The store read its clock somewhere between `sentMs` and now. Taken for the time at `sentMs`, it is early by no more than the
   * round trip and never late: no key is accepted after it has expired.
   *
   * @param storeMs what the store's clock said
   * @param sentMs when it was asked, monotonic
   */
  learn(storeMs: number, sentMs: number): void {
    const tookMs = this.#own.monotonicMs() - sentMs;
    this.#aheadOfMonotonicMs = storeMs - sentMs;
    this.#aheadMs = Math.round(this.#own.wallMs() - tookMs / 2 - storeMs);
  }

  monotonicMs(): number {
    return this.#own.monotonicMs();
  }

  /** The store's time. Before the first renewal, when nothing is decided, that of this machine. */
  wallMs(): number {
    const aheadMs = this.#aheadOfMonotonicMs;
    return aheadMs === undefined ? this.#own.wallMs() : Math.floor(this.#own.monotonicMs() + aheadMs);
  }
}

/** Further apart than this, in milliseconds, operators are told. */
const worthAWarningMs = 1_000;

/** Warns when the wall clock of this machine goes wrong, and not again before it was right. */
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
