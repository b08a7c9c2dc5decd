import type { FactValue, Seq } from '../ports/facts.ts';

/** A fact in memory. */
export interface Held {
  /** `undefined` from the moment it is no longer held, whoever still refers to it. */
  value: FactValue | undefined;
  seq: Seq;
  /** Asked for since the hand last passed. */
  recent: boolean;
  /** What was asked for after it, and by which name: the account after a key, the parent after an account. */
  next: Held | undefined;
  nextName: string;
}

/** How many recently used entries an insertion may pass over, so that none takes long. */
const passes = 64;

/**
 * Facts in memory, at most `capacity` of them. What to drop is chosen by the clock algorithm: a hand goes round
 * over the entries and takes the first that nobody asked for since it last came by.
 */
export class LocalCache {
  readonly #capacity: number;
  readonly #entries = new Map<string, Held>();
  /** A map's iterator goes on where it was through insertions and deletions: it is the hand. */
  #hand: MapIterator<[string, Held]>;

  constructor(capacity: number) {
    this.#capacity = Math.max(1, capacity);
    this.#hand = this.#entries.entries();
  }

  get size(): number {
    return this.#entries.size;
  }

  find(name: string): Held | undefined {
    const held = this.#entries.get(name);
    return held === undefined ? undefined : asked(held);
  }

  /**
   * The same, for what is mostly asked for after `before`: where that was so the last time, too, it is at hand. In a
   * large cache a look-up by name waits half a dozen times for main memory; this costs less than half of it.
   */
  findAfter(before: Held, name: string): Held | undefined {
    const { next } = before;
    if (next !== undefined && next.value !== undefined) {
      return before.nextName === name ? asked(next) : this.find(name);
    }
    const held = this.find(name);
    before.next = held;
    before.nextName = name;
    return held;
  }

  /** Keeps a value, unless it has a newer one. */
  put(name: string, value: FactValue, seq: Seq): void {
    const present = this.#entries.get(name);
    if (present !== undefined) {
      if (present.seq > seq) return;
      present.value = value;
      present.seq = seq;
      return;
    }
    if (this.#entries.size >= this.#capacity) this.#dropOne();
    this.#entries.set(name, { value, seq, recent: false, next: undefined, nextName: '' });
  }

  /** Drops what was read before `seq` under `name`. */
  dropOlder(name: string, seq: Seq): void {
    const held = this.#entries.get(name);
    if (held !== undefined && held.seq < seq) this.#drop(name, held);
  }

  clear(): void {
    for (const held of this.#entries.values()) held.value = undefined;
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
      const [name, held] = next.value;
      if (!held.recent || passed >= passes) return this.#drop(name, held);
      held.recent = false;
    }
  }

  #drop(name: string, held: Held): void {
    held.value = undefined;
    held.next = undefined;
    this.#entries.delete(name);
  }
}

function asked(held: Held): Held {
  // Written to only where that changes something: a write costs the caches more than a read.
  if (!held.recent) held.recent = true;
  return held;
}
