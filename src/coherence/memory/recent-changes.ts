import type { FactKey, Seq } from '../../ports/facts.ts';

/** Most facts remembered. */
const usualMost = 100_000;

/**
 * Newest change of each fact, as its position. It tells whether a value read at some position can still be true: not if
 * the fact changed later, and not if that is unknown.
 */
export class RecentChanges {
  readonly #most: number;
  /** Facts by the position of their last change, the oldest first. */
  readonly #touched = new Map<FactKey, Seq>();
  #floor: Seq = 0;
  #evictedBelow: Seq = 0;

  /** @param most facts remembered; for a moment up to a tenth more */
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

  /** Whether a value read at `stamp` includes all remembered changes of `key`, and no later one is forgotten. */
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

  /** Evicts many at a time: a Map finds its first entry slower the more were deleted before it. */
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
