import type { FactValue, Seq } from '../../ports/facts.ts';
import type { Held, Table } from './entry.ts';

/** How many recently used entries an insertion may pass over, so that none takes long. */
const passes = 64;

/**
 * Facts in memory. What to drop is chosen by the clock algorithm: a hand goes round over the entries and takes the first
 * that was not asked for since it last came by.
 */
export class LocalCache {
  readonly #table: Table;
  readonly #makeRoom: () => void;

  /** @param makeRoom called before there is one entry more, to drop one where that is too many */
  constructor(table: Table, makeRoom: () => void) {
    this.#table = table;
    this.#makeRoom = makeRoom;
  }

  get size(): number {
    return this.#table.size;
  }

  find(name: string): Held | undefined {
    const held = this.#table.get(name);
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
    const present = this.#table.get(name);
    if (present !== undefined) {
      if (present.seq > seq) return;
      present.value = value;
      present.seq = seq;
      return;
    }
    this.#makeRoom();
    this.#table.add({ name, value, seq, recent: false, next: undefined, nextName: '' });
  }

  /** Drops what was read before `seq` under `name`. */
  dropOlder(name: string, seq: Seq): void {
    const held = this.#table.get(name);
    if (held !== undefined && held.seq < seq) this.#drop(held);
  }

  /** Drops one entry, if there is any. */
  dropOne(): void {
    for (let passed = 0; ; passed++) {
      const held = this.#table.turn();
      if (held === undefined) return;
      if (!held.recent || passed >= passes) return this.#drop(held);
      held.recent = false;
    }
  }

  clear(): void {
    for (const held of this.#table.all()) held.value = undefined;
    this.#table.clear();
  }

  #drop(held: Held): void {
    held.value = undefined;
    held.next = undefined;
    this.#table.delete(held);
  }
}

function asked(held: Held): Held {
  // Written to only where that changes something: a write costs the caches more than a read.
  if (!held.recent) held.recent = true;
  return held;
}

/** Facts under names of any kind. */
export class NameTable implements Table {
  readonly #entries = new Map<string, Held>();
  /** A map's iterator goes on where it was through insertions and deletions: it is the hand. */
  #hand = this.#entries.values();

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): Held | undefined {
    return this.#entries.get(name);
  }

  add(held: Held): void {
    this.#entries.set(held.name, held);
  }

  delete({ name }: Held): void {
    this.#entries.delete(name);
  }

  clear(): void {
    this.#entries.clear();
    this.#hand = this.#entries.values();
  }

  all(): Iterable<Held> {
    return this.#entries.values();
  }

  turn(): Held | undefined {
    const next = this.#hand.next();
    if (next.done !== true) return next.value;
    this.#hand = this.#entries.values();
    return this.#hand.next().value;
  }
}
