import type { FactKey, Seq } from '../../ports/facts.ts';

/** Facts remembered at most. */
const usualMost = 100_000;

/**
 * The newest changes, as "which position touched this fact last". It tells whether a value read at some position can
 * still be true: not if its fact was touched later, and not if that cannot be known.
 */
export class RecentChanges {
  readonly #most: number;
  /** In the order of positions, so that the oldest come first. */
  readonly #touched = new Map<FactKey, Seq>();
  #floor: Seq = 0;
  #evictedBelow: Seq = 0;

  /** @param most facts remembered at most, for a moment a tenth more */
  constructor(most: number = usualMost) {
    this.#most = most;
  }

  /** Facts remembered. */
  get size(): number {
    return this.#touched.size;
  }

  /** Everything from this position on is remembered. */
  get floor(): Seq {
    return this.#floor;
  }

  /** Positions below this were evicted because there were too many facts. */
  get evictedBelow(): Seq {
    return this.#evictedBelow;
  }

  /** Remembers an entry of the log; positions never come down. */
  record(key: FactKey, seq: Seq): void {
    this.#touched.delete(key);
    this.#touched.set(key, seq);
    if (this.#touched.size > 1.1 * this.#most) this.#evictOldest(this.#touched.size - this.#most);
  }

  /** Forgets what is older. */
  raiseFloor(floor: Seq): void {
    if (floor <= this.#floor) return;
    this.#floor = floor;
    for (const [key, seq] of this.#touched) {
      if (seq >= floor) break;
      this.#touched.delete(key);
    }
  }

  /** Whether a value read at `stamp` has seen every change of `key` that is remembered, and none is forgotten. */
  admits(key: FactKey, stamp: Seq): boolean {
    return stamp + 1 >= this.#floor && stamp >= (this.#touched.get(key) ?? 0);
  }

  /** Whether a change of `key` after `seq` is remembered, or may have been forgotten. */
  mayHaveTouched(key: FactKey, seq: Seq): boolean {
    return seq + 1 < this.#floor || (this.#touched.get(key) ?? 0) > seq;
  }

  clear(): void {
    this.#touched.clear();
    this.#floor = 0;
    this.#evictedBelow = 0;
  }

  /** Many at a time: the first entry of a map is the slower to find the more were deleted before it. */
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
