/** Milliseconds over which a rate is measured. */
const rateWindowMs = 60_000;

/**
 * Detects that a peer has made no progress for too long, or too little progress during a minute, while the gateway was
 * waiting for it. Callers check at intervals, so no timer is needed.
 */
export class Patience {
  readonly #mostMs: number;
  readonly #least: number;
  #progress = -1;
  #sinceMs = 0;
  /** Start of the minute over which the rate is being measured; `null` while the gateway is not waiting. */
  #window: { readonly progress: number; readonly sinceMs: number } | null = null;

  /**
   * @param mostMs maximum number of milliseconds without progress; 0 for no limit
   * @param least minimum progress per minute; 0 for no limit
   */
  constructor(mostMs: number, least = 0) {
    this.#mostMs = mostMs === 0 ? Infinity : mostMs;
    this.#least = least;
  }

  /**
   * Whether the gateway has waited for the peer for too long, or the peer was too slow.
   *
   * @param waiting whether the gateway is waiting for the peer now
   * @param progress any number that grows with the peer's activity
   * @param nowMs monotonic time
   */
  isOver(waiting: boolean, progress: number, nowMs: number): boolean {
    if (!waiting || progress !== this.#progress) [this.#progress, this.#sinceMs] = [progress, nowMs];
    const isIdle = nowMs - this.#sinceMs > this.#mostMs;
    const before = this.#window;
    if (waiting && before !== null && nowMs - before.sinceMs < rateWindowMs) return isIdle;
    this.#window = waiting ? { progress, sinceMs: nowMs } : null;
    const isSlow = waiting && before !== null && progress - before.progress < this.#least;
    return isIdle || isSlow;
  }
}
