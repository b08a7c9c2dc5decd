import { randomInt } from 'node:crypto';
import type { FactValue, Seq } from '../../ports/facts.ts';

/** What a {@link Table} holds things by. */
export interface Named {
  readonly name: string;
}

/** A fact in memory. */
export interface Entry extends Named {
  /**
   * `undefined` while it is unproven, and from the moment it is no longer held, even where a look-up still refers to it: it
   * decides nothing.
   */
  value: FactValue | undefined;
  seq: Seq;
  /** Asked for since the clock hand last passed. */
  recent: boolean;
  /** What was asked for after it, and by which name: the account after a key, the parent after an account. */
  next: Entry | undefined;
  nextName: string;
  /** When the reading began that it was last read in; whole seconds, monotonic. */
  provenS: number;
  /** Its neighbours in {@link ProofOrder}. */
  older: Entry | undefined;
  newer: Entry | undefined;
}

/** An entry of which nothing is known yet. All are made here, so that they have one shape. */
export function makeEntry(name: string): Entry {
  return {
    name,
    value: undefined,
    seq: noSeq,
    recent: false,
    next: undefined,
    nextName: '',
    provenS: 0,
    older: undefined,
    newer: undefined,
  };
}

/** Older than any position. */
export const noSeq = -1;

/** Things by name, and the hand of the clock algorithm, which goes round over them. */
export interface Table<T extends Named = Entry> {
  readonly size: number;
  get(name: string): T | undefined;
  /** The name must not be in it yet. */
  add(thing: T): void;
  delete(thing: T): void;
  all(): Iterable<T>;
  /** The next one, round and round, also while others come and go; `undefined` where there is none. */
  turn(): T | undefined;
}

/** Facts under names of any kind. */
export class NameTable implements Table {
  readonly #entries = new Map<string, Entry>();
  /** A map's iterator goes on where it was through insertions and deletions: it is the clock hand. */
  #clockHand = this.#entries.values();

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): Entry | undefined {
    return this.#entries.get(name);
  }

  add(entry: Entry): void {
    this.#entries.set(entry.name, entry);
  }

  delete({ name }: Entry): void {
    this.#entries.delete(name);
  }

  all(): Iterable<Entry> {
    return this.#entries.values();
  }

  turn(): Entry | undefined {
    const next = this.#clockHand.next();
    if (next.done !== true) return next.value;
    this.#clockHand = this.#entries.values();
    return this.#clockHand.next().value;
  }
}

/** A power of two. */
const smallest = 1_024;
/** Of 43 characters the last one holds fewer bits. */
const wholeCharacters = 42;

/**
 * Things under SHA-256 digests in base64url: a hash table with open addressing and linear probing, at most half full.
 *
 * A large map is slow to search, since one step after another waits for main memory. A digest needs no hashing, it is as good
 * as random; and where its mark agrees, what is there is nearly always it. With a million keys, all of them in use,
 * a decision takes 1.7 µs by this table and 2.5 by a Map (`bench/coherence.ts`). Nor does it, like a Map, keep what was
 * ever in it alive by the tables it outgrew.
 *
 * The mark is made from a few characters at secret random positions: a client that chooses keys whose digests agree in
 * many characters cannot make them collide in here.
 */
export class DigestTable<T extends Named = Entry> implements Table<T> {
  readonly #places: readonly number[];
  #slots: (T | undefined)[] = [];
  #marks = new Int32Array(0);
  #size = 0;
  #clockHand = 0;

  /** @param places which five characters of a digest make its mark */
  constructor(places: readonly number[] = secretPlaces()) {
    this.#places = places;
    this.#make(smallest);
  }

  get size(): number {
    return this.#size;
  }

  get(name: string): T | undefined {
    const mark = this.#markOf(name);
    const [slots, marks, last] = [this.#slots, this.#marks, this.#slots.length - 1];
    for (let slot = mark & last; ; slot = (slot + 1) & last) {
      const entry = slots[slot];
      if (entry === undefined || (marks[slot] === mark && entry.name === name)) return entry;
    }
  }

  add(entry: T): void {
    if (2 * (this.#size + 1) > this.#slots.length) this.#grow();
    this.#place(entry, this.#markOf(entry.name));
    this.#size += 1;
  }

  /** Moves up what follows, so that nothing stands behind a gap (Knuth, The Art of Computer Programming 6.4, algorithm R). */
  delete(entry: T): void {
    const [slots, marks, last] = [this.#slots, this.#marks, this.#slots.length - 1];
    let gap = this.#markOf(entry.name) & last;
    while (slots[gap] !== entry) {
      if (slots[gap] === undefined) return;
      gap = (gap + 1) & last;
    }
    for (let slot = (gap + 1) & last; slots[slot] !== undefined; slot = (slot + 1) & last) {
      const home = marks[slot] as number;
      // Whether the gap is on the way from where it belongs to where it is.
      if (((slot - home) & last) < ((slot - gap) & last)) continue;
      slots[gap] = slots[slot];
      marks[gap] = home;
      gap = slot;
    }
    slots[gap] = undefined;
    this.#size -= 1;
  }

  *all(): Iterable<T> {
    for (const entry of this.#slots) if (entry !== undefined) yield entry;
  }

  turn(): T | undefined {
    if (this.#size === 0) return undefined;
    const last = this.#slots.length - 1;
    for (;;) {
      const entry = this.#slots[this.#clockHand++ & last];
      if (entry !== undefined) return entry;
    }
  }

  #grow(): void {
    const [slots, marks] = [this.#slots, this.#marks];
    this.#make(2 * slots.length);
    slots.forEach((entry, slot) => {
      if (entry !== undefined) this.#place(entry, marks[slot] as number);
    });
  }

  #make(slots: number): void {
    this.#slots = new Array<T | undefined>(slots).fill(undefined);
    this.#marks = new Int32Array(slots);
  }

  #place(entry: T, mark: number): void {
    const last = this.#slots.length - 1;
    let slot = mark & last;
    while (this.#slots[slot] !== undefined) slot = (slot + 1) & last;
    this.#slots[slot] = entry;
    this.#marks[slot] = mark;
  }

  /** Thirty bits. */
  #markOf(name: string): number {
    let mark = 0;
    for (const place of this.#places) mark = (mark << 6) | (sixBits[name.charCodeAt(place) & 127] as number);
    return mark;
  }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const sixBits = Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max(0, alphabet.indexOf(String.fromCharCode(code))),
);

function secretPlaces(): number[] {
  const places = new Set<number>();
  while (places.size < 5) places.add(randomInt(wholeCharacters));
  return [...places];
}

/** Finds an entry by its name, and notes that it was asked for. */
export function findIn(table: Table, name: string): Entry | undefined {
  const entry = table.get(name);
  return entry === undefined ? undefined : asked(entry);
}

/**
 * The same, for what is mostly asked for after `before`: where that was so the last time, too, it is at hand. In a
 * large table a look-up by name waits half a dozen times for main memory; this costs less than half of it.
 */
export function findAfter(table: Table, before: Entry, name: string): Entry | undefined {
  const { next } = before;
  if (next !== undefined && next.value !== undefined) {
    return before.nextName === name ? asked(next) : findIn(table, name);
  }
  const entry = findIn(table, name);
  before.next = entry;
  before.nextName = name;
  return entry;
}

function asked(entry: Entry): Entry {
  // Written to only where that changes something: a write costs the caches more than a read.
  if (!entry.recent) entry.recent = true;
  return entry;
}
