import type { FactKey, Seq } from '../../ports/facts.ts';

/** Default maximum number of facts to remember. */
const usualMost = 100_000;

/**
 * Remembers the log position of each fact's latest change. A value read at some position may be used only if the fact
 * has certainly not changed since.
 */
export class RecentChanges {
  readonly #most: number;
  /** Position of each fact's last change, oldest first. */
  readonly #touched = new Map<FactKey, Seq>();
  #floor: Seq = 0;
  #evictedBelow: Seq = 0;

  /** @param most maximum number of facts to remember; may be exceeded by up to a tenth */
  constructor(most: number = usualMost) {
    this.#most = most;
  }

  /** Number of facts remembered. */
  get size(): number {
    return this.#touched.size;
  }

  /** Every change from this log position on is remembered. */
  get floor(): Seq {
    return this.#floor;
  }

  /** Changes below this position were evicted, because the number of remembered facts had exceeded its maximum. */
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
   * Whether a value read at position `stamp` includes every change to the fact. `false` if a later change is remembered
   * or may have been forgotten.
   */
  admits(key: FactKey, stamp: Seq): boolean {
    return stamp + 1 >= this.#floor && stamp >= (this.#touched.get(key) ?? 0);
  }

  /** Whether the fact changed after position `seq`. Also `true` if a later change may have been forgotten. */
  mayHaveTouched(key: FactKey, seq: Seq): boolean {
    return seq + 1 < this.#floor || (this.#touched.get(key) ?? 0) > seq;
  }

  clear(): void {
    this.#touched.clear();
    this.#floor = 0;
    this.#evictedBelow = 0;
  }

  /**
   * Evicts many facts at once. A Map keeps the places of deleted entries for a while, and every search for the first
   * entry has to skip them.
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
