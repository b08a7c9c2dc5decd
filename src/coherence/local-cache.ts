import type { FactValue, Seq } from '../ports/facts.ts';

interface Entry {
  readonly value: FactValue;
  readonly seq: Seq;
  /** Asked for since the hand last passed. */
  recent: boolean;
}

/** How many recently used entries an insertion may pass over, so that none takes long. */
const passes = 64;

/**
 * Facts in memory, at most `capacity` of them. What to drop is chosen by the clock algorithm: a hand goes round
 * over the entries and takes the first that nobody asked for since it last came by.
 */
export class LocalCache {
  readonly #capacity: number;
  readonly #entries = new Map<string, Entry>();
  /** A map's iterator goes on where it was through insertions and deletions: it is the hand. */
  #hand: MapIterator<[string, Entry]>;

  constructor(capacity: number) {
    this.#capacity = Math.max(1, capacity);
    this.#hand = this.#entries.entries();
  }

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): FactValue | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    if (!entry.recent) entry.recent = true;
    return entry.value;
  }

  /** Keeps a value, unless it has a newer one. */
  put(name: string, value: FactValue, seq: Seq): void {
    const present = this.#entries.get(name);
    if (present !== undefined && present.seq > seq) return;
    if (present === undefined && this.#entries.size >= this.#capacity) this.#dropOne();
    this.#entries.set(name, { value, seq, recent: false });
  }

  /** Drops what was read before `seq` under `name`. */
  dropOlder(name: string, seq: Seq): void {
    const entry = this.#entries.get(name);
    if (entry !== undefined && entry.seq < seq) this.#entries.delete(name);
  }

  clear(): void {
    this.#entries.clear();
    this.#hand = this.#entries.entries();
  }

  #dropOne(): void {
    for (let passed = 0; ; passed++) {
      let next = this.#hand.next();
      if (next.done === true) {
        this.#hand = this.#entries.entries();
        next = this.#hand.next();
      }
      if (next.done === true) return;
      const [name, entry] = next.value;
      if (!entry.recent || passed >= passes) {
        this.#entries.delete(name);
        return;
      }
      entry.recent = false;
    }
  }
}
