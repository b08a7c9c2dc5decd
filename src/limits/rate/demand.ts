/** Minimum time between two updates of the average, in milliseconds. */
const leastMs = 5;

/** Average demand for the tokens of one limit on this replica. All times are monotonic, in milliseconds. */
export class Demand {
  /** Time of the last request. */
  lastMs: number;
  readonly #averageMs: number;
  /** Number of tokens wanted since `#sinceMs`. `#perMs` is the average per millisecond before `#sinceMs`. */
  #wanted = 0;
  #sinceMs: number;
  #perMs = 0;

  /** @param averageMs time over which demand is averaged. After a longer pause, the average restarts at 0 */
  constructor(averageMs: number, nowMs: number) {
    this.#averageMs = averageMs;
    this.lastMs = nowMs;
    this.#sinceMs = nowMs;
  }

  /** Counts a request as one token. */
  noteRequest(nowMs: number): void {
    // After a long pause, demand restarts at 0, so that the first query of a burst asks for no tokens in advance.
    if (nowMs - this.lastMs >= this.#averageMs) [this.#perMs, this.#wanted, this.#sinceMs] = [0, 0, nowMs];
    this.#wanted += 1;
    this.lastMs = nowMs;
  }

  /** Counts further tokens of an earlier request. */
  noteMore(tokens: number): void {
    this.#wanted += tokens;
  }

  /**
   * Returns the tokens per millisecond that are wanted steadily. A burst that has just begun is left out. Its other
   * requests may go to another replica, and that replica would lack the tokens kept here.
   */
  steadyPerMs(nowMs: number): number {
    const before = this.#perMs;
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs >= leastMs) {
      const weight = 1 - Math.exp(-elapsedMs / this.#averageMs);
      this.#perMs += (this.#wanted / elapsedMs - this.#perMs) * weight;
      this.#wanted = 0;
      this.#sinceMs = nowMs;
    }
    return Math.min(before, this.#perMs);
  }
}
