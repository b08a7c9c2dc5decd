/**
 * Detects that a peer has made no progress for too long while the gateway was waiting for it. Callers check at
 * intervals, so no timer is needed.
 */
export class IdleTimeout {
  readonly #mostMs: number;
  #progress = -1;
  #sinceMs = 0;

  /** @param mostMs maximum number of milliseconds without progress; 0 for no limit */
  constructor(mostMs: number) {
    this.#mostMs = mostMs === 0 ? Infinity : mostMs;
  }

  /**
   * Whether the gateway has waited for the peer for too long.
   *
   * @param waiting whether the gateway is waiting for the peer now
   * @param progress any number that grows with the peer's activity
   * @param nowMs monotonic time
   */
  expired(waiting: boolean, progress: number, nowMs: number): boolean {
    if (!waiting || progress !== this.#progress) {
      this.#progress = progress;
      this.#sinceMs = nowMs;
      return false;
    }
    return nowMs - this.#sinceMs > this.#mostMs;
  }
}

/** Milliseconds over which a rate is measured. */
const rateWindowMs = 60_000;

/**
 * Detects that a peer has made too little progress during a minute in which the gateway was waiting for it. Callers
 * check at intervals, so no timer is needed.
 */
export class LeastRate {
  readonly #least: number;
  #progress = 0;
  #sinceMs: number | null = null;

  /** @param least minimum progress per minute; 0 for no limit */
  constructor(least: number) {
    this.#least = least;
  }

  /** Whether the peer was too slow. Takes the same parameters as {@link IdleTimeout.expired}. */
  tooSlow(waiting: boolean, progress: number, nowMs: number): boolean {
    const over = this.#sinceMs === null || nowMs - this.#sinceMs >= rateWindowMs;
    if (waiting && !over) return false;
    const slow = waiting && this.#sinceMs !== null && progress - this.#progress < this.#least;
    this.#progress = progress;
    this.#sinceMs = waiting ? nowMs : null;
    return slow;
  }
}
