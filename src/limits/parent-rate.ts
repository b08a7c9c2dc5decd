import type { AccountId } from '../domain/ids.ts';

/** Length of a burst in seconds: a parent may make this many seconds' worth of calls at once. */
const burstS = 10;
const leastRoom = 1_000;
/** Waits of up to this many milliseconds are rounding errors and count as 0. */
const nothingMs = 0.001;

/**
 * Rate limit on management calls in one process: one token bucket per parent, stored as the time at which the bucket
 * will be full again.
 *
 * A call may be counted some time after it was admitted, so concurrent calls may together exceed the rate. Later calls
 * then wait longer.
 */
export class ParentRate {
  readonly perSecond: number;
  readonly #costMs: number;
  #fullAtMs = new Map<AccountId, number>();
  #room = leastRoom;

  /** @param perSecond calls per second; 0 for no limit */
  constructor(perSecond: number) {
    this.perSecond = perSecond;
    this.#costMs = 1000 / perSecond;
  }

  /** Number of parents in memory. */
  get size(): number {
    return this.#fullAtMs.size;
  }

  /**
   * Returns how many milliseconds a parent must wait before its next call; 0 if it may call now. @param nowMs monotonic
   * time
   */
  waitMs(parent: AccountId, nowMs: number): number {
    if (this.perSecond === 0) return 0;
    const emptyMs = (this.#fullAtMs.get(parent) ?? nowMs) - nowMs;
    const waitMs = emptyMs - (this.perSecond * burstS - 1) * this.#costMs;
    return waitMs > nothingMs ? waitMs : 0;
  }

  /** Counts a call. */
  count(parent: AccountId, nowMs: number): void {
    if (this.perSecond === 0) return;
    const fullAtMs = Math.max(this.#fullAtMs.get(parent) ?? nowMs, nowMs) + this.#costMs;
    if (!this.#fullAtMs.has(parent)) this.#makeRoom(nowMs);
    this.#fullAtMs.set(parent, fullAtMs);
  }

  /** Removes parents whose buckets are full again, if there are many parents in memory. */
  #makeRoom(nowMs: number): void {
    if (this.#fullAtMs.size < this.#room) return;
    this.#fullAtMs = new Map([...this.#fullAtMs].filter(([, fullAtMs]) => fullAtMs > nowMs));
    this.#room = Math.max(leastRoom, 2 * this.#fullAtMs.size);
  }
}
