/** Length of a burst in seconds: a caller may send this many seconds' worth of requests at once. */
const burstS = 10;
const leastRoom = 1_000;
/** Waits of up to this many milliseconds are rounding errors and count as 0. */
const nothingMs = 0.001;

/**
 * Rate limit in one process: one token bucket per caller, stored as the time at which the bucket will be full again.
 * The same rate applies to all callers: parents that make management calls, or networks that use an open route.
 *
 * A request may be counted some time after it was admitted, so concurrent requests may together exceed the rate. Later
 * requests then wait longer.
 */
export class SteadyRate<Caller> {
  readonly perSecond: number;
  readonly #costMs: number;
  #fullAtMs = new Map<Caller, number>();
  #room = leastRoom;

  /** @param perSecond requests per second and caller; 0 for no limit */
  constructor(perSecond: number) {
    this.perSecond = perSecond;
    this.#costMs = 1000 / perSecond;
  }

  /** Number of callers in memory. */
  get size(): number {
    return this.#fullAtMs.size;
  }

  /**
   * Returns how many milliseconds a caller must wait before its next request; 0 if it may send one now.
   *
   * @param nowMs monotonic time
   */
  waitMs(caller: Caller, nowMs: number): number {
    if (this.perSecond === 0) return 0;
    const emptyMs = (this.#fullAtMs.get(caller) ?? nowMs) - nowMs;
    const waitMs = emptyMs - (this.perSecond * burstS - 1) * this.#costMs;
    return waitMs > nothingMs ? waitMs : 0;
  }

  /** Counts a request. */
  count(caller: Caller, nowMs: number): void {
    if (this.perSecond === 0) return;
    const fullAtMs = Math.max(this.#fullAtMs.get(caller) ?? nowMs, nowMs) + this.#costMs;
    if (!this.#fullAtMs.has(caller)) this.#makeRoom(nowMs);
    this.#fullAtMs.set(caller, fullAtMs);
  }

  /** Removes callers whose buckets are full again, if there are many callers in memory. */
  #makeRoom(nowMs: number): void {
    if (this.#fullAtMs.size < this.#room) return;
    this.#fullAtMs = new Map([...this.#fullAtMs].filter(([, fullAtMs]) => fullAtMs > nowMs));
    this.#room = Math.max(leastRoom, 2 * this.#fullAtMs.size);
  }
}
