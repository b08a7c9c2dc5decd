import type { FactKey, Seq } from '../../ports/facts.ts';

/** Maximum number of facts remembered, unless the constructor gets another one. */
const usualMost = 100_000;

/**
 * Log position of the newest change of each fact. It tells whether a value that was read at some position may still be
 * used: it may not if the fact changed later, or if that is unknown.
 */
export class RecentChanges {
  readonly #most: number;
  /** Facts by the position of their last change, the oldest first. */
  readonly #touched = new Map<FactKey, Seq>();
  #floor: Seq = 0;
  #evictedBelow: Seq = 0;

  /** @param most maximum number of facts remembered; exceeded by up to a tenth at times */
  constructor(most: number = usualMost) {
    this.#most = most;
  }

  /** Number of facts remembered. */
  get size(): number {
    return this.#touched.size;
  }

  /** All changes from this position on are remembered. */
  get floor(): Seq {
    return this.#floor;
  }

  /** Changes below this position were evicted because there were too many facts. */
  get evictedBelow(): Seq {
    return this.#evictedBelow;
  }

  /** Remembers an entry of the log; positions never go down. */
  record(key: FactKey, seq: Seq): void {
    this.#touched.delete(key);
    this.#touched.set(key, seq);
    if (this.#touched.size > 1.1 * this.#most) this.#evictOldest(this.#touched.size - this.#most);
  }

  /** Forgets changes below `floor`. */
  raiseFloor(floor: Seq): void {
    if (floor <= this.#floor) return;
    this.#floor = floor;
    for (const [key, seq] of this.#touched) {
      if (seq >= floor) break;
      this.#touched.delete(key);
    }
  }

  /**
   * Whether a value read at `stamp` includes all remembered changes of `key`, and no later change can have been
   * forgotten.
   */
  admits(key: FactKey, stamp: Seq): boolean {
    return stamp + 1 >= this.#floor && stamp >= (this.#touched.get(key) ?? 0);
  }

  /** Whether a change of `key` after `seq` is remembered or may be forgotten. */
  mayHaveTouched(key: FactKey, seq: Seq): boolean {
    return seq + 1 < this.#floor || (this.#touched.get(key) ?? 0) > seq;
  }

  clear(): void {
    this.#touched.clear();
    this.#floor = 0;
    this.#evictedBelow = 0;
  }

  /**
   * Evicts many at a time: the more entries were deleted before the first entry of a Map, the longer it takes to find
   * that entry.
   */
  #evictOldest(count: number): void {
    let left = count;
    for (const seq of this.#touched.values()) {
      if (left-- > 0) continue;
      this.#evictedBelow = seq;
      break;
    }
    this.raiseFloor(this.#evictedBelow);
  }
}
