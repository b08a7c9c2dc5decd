import type { FactKey, Seq } from '../../ports/facts.ts';

/**
 * The part of the log that is still kept, as "which position touched this fact last". It tells whether a value
 * read at some position can still be true: not if its fact was touched later, and not if that cannot be known.
 */
export class Window {
  /** In the order of positions, so that the oldest come first. */
  readonly #touched = new Map<FactKey, Seq>();
  #floor: Seq = 0;

  /** Facts remembered. */
  get size(): number {
    return this.#touched.size;
  }

  /** Everything from this position on is remembered. */
  get floor(): Seq {
    return this.#floor;
  }

  /** Remembers an entry of the log; positions never come down. */
  record(key: FactKey, seq: Seq): void {
    this.#touched.delete(key);
    this.#touched.set(key, seq);
  }

  /** Forgets what the log no longer keeps. */
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

  clear(): void {
    this.#touched.clear();
    this.#floor = 0;
  }
}
