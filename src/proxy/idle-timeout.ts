/** Tells how long a peer that something waits for has made no progress, from looks taken now and then. */
export class StallWatch {
  readonly #mostMs: number;
  #progress = -1;
  #sinceMs = 0;

  /** @param mostMs how long it may make none; 0 for ever */
  constructor(mostMs: number) {
    this.#mostMs = mostMs === 0 ? Infinity : mostMs;
  }

  /**
   * @param waiting it is the peer's turn
   * @param progress any number that grows with what the peer does
   * @param nowMs monotonic
   */
  stalled(waiting: boolean, progress: number, nowMs: number): boolean {
    if (!waiting || progress !== this.#progress) {
      this.#progress = progress;
      this.#sinceMs = nowMs;
      return false;
    }
    return nowMs - this.#sinceMs > this.#mostMs;
  }
}
