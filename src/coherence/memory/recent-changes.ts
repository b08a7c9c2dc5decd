import type { FactKey, Seq } from '../../ports/facts.ts';

/** Maximum number of facts remembered, unless the constructor gets another maximum. */
const usualMost = 100_000;

/**
 * Remembers the log position of the newest change of each fact. A value that was read at some position may be used only
 * if the fact has certainly not changed after that position.
 */
export class RecentChanges {
  readonly #most: number;
  /** Position of the last change of each fact, oldest change first. */
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

  /** Log position from which all changes are remembered. */
  get floor(): Seq {
    return this.#floor;
  }

  /** Changes below this position were evicted because there were too many facts. */
  get evictedBelow(): Seq {
    return this.#evictedBelow;
  }

  /** Remembers a change. Changes must be recorded in the order of their positions. */
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
   * Whether a value that was read at the position `stamp` includes every change of the fact. Returns `false` if a later
   * change is remembered, or may have been forgotten.
   */
  admits(key: FactKey, stamp: Seq): boolean {
    return stamp + 1 >= this.#floor && stamp >= (this.#touched.get(key) ?? 0);
  }

  /** Whether the fact changed after the position `seq`, or may have changed, because later changes were forgotten. */
  mayHaveTouched(key: FactKey, seq: Seq): boolean {
    return seq + 1 < this.#floor || (this.#touched.get(key) ?? 0) > seq;
  }

  clear(): void {
    this.#touched.clear();
    this.#floor = 0;
    this.#evictedBelow = 0;
  }

  /**
   * Evicts many facts at a time: the more entries were deleted before the first entry of a Map, the longer it takes to
   * find that entry.
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
