import { randomInt } from 'node:crypto';
import type { FactValue, Seq } from '../../ports/facts.ts';

/** Anything that a {@link Table} can look up by name. */
export interface Named {
  readonly name: string;
}

/** A fact in memory. */
export interface Entry extends Named {
  /**
   * `undefined` while the fact is unproven and after it has been dropped. Decisions cannot use the entry then, even if
   * a look-up still refers to it.
   */
  value: FactValue | undefined;
  seq: Seq;
  /** Whether the entry has been looked up since the clock hand last passed it. */
  recent: boolean;
  /** Entry that was looked up right after this one: the account of a key, or the parent of an account. */
  next: Entry | undefined;
  /** Name that was looked up to find `next`. */
  nextName: string;
  /** When the fact's last read began, in whole seconds on the monotonic clock. */
  provenS: number;
  /** Next older entry in {@link ProofOrder}. */
  older: Entry | undefined;
  /** Next newer entry in {@link ProofOrder}. */
  newer: Entry | undefined;
}

/** Makes an entry without a value. All entries are made here, so that V8 gives them the same hidden class. */
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

/** A position lower than any in the log. */
export const noSeq = -1;

/** A table that looks things up by name. The clock algorithm's hand sweeps around it. */
export interface Table<T extends Named = Entry> {
  readonly size: number;
  get(name: string): T | undefined;
  /** Adds a thing. The table must not yet hold a thing with this name. */
  add(thing: T): void;
  delete(thing: T): void;
  all(): Iterable<T>;
  /**
   * Advances the clock hand and returns the thing that it now points to; `undefined` if the table is empty. Things may
   * be added and deleted between two calls.
   */
  turn(): T | undefined;
}

/** A table of facts whose names may be any strings. */
export class NameTable implements Table {
  readonly #entries = new Map<string, Entry>();
  /** The clock hand. A Map's iterator keeps its place through insertions and deletions. */
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

/** Number of slots in a new table; a power of two. */
const smallest = 1_024;
/**
 * Number of a digest's characters that hold six bits each. A digest has 43 characters, and the last one holds fewer
 * bits.
 */
const wholeCharacters = 42;

/**
 * A table keyed by SHA-256 digest in base64url: a hash table with open addressing and linear probing, at most half
 * full.
 *
 * A large Map is slow to search, because several steps each have to wait for main memory. A digest is as good as
 * random, so this table need not hash it. Each entry has a mark, which is a small part of its digest. A search compares
 * marks before names, so it nearly always compares the name of only one entry. With a million keys in use, a decision
 * takes 1.7 µs with this table and 2.5 µs with a Map (`bench/coherence.ts`). Unlike a Map, this table does not keep old
 * entries alive in tables that it has outgrown.
 *
 * The mark consists of a few characters at secret random indexes, so a client cannot force collisions by choosing keys
 * whose digests share many characters.
 */
export class DigestTable<T extends Named = Entry> implements Table<T> {
  readonly #places: readonly number[];
  #slots: (T | undefined)[] = [];
  #marks = new Int32Array(0);
  #size = 0;
  #clockHand = 0;

  /** @param places five indexes into a digest; the characters there make up its mark */
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

  /** Deletes an entry and moves later entries up (Knuth, The Art of Computer Programming 6.4, algorithm R). */
  delete(entry: T): void {
    const [slots, marks, last] = [this.#slots, this.#marks, this.#slots.length - 1];
    let gap = this.#markOf(entry.name) & last;
    while (slots[gap] !== entry) {
      if (slots[gap] === undefined) return;
      gap = (gap + 1) & last;
    }
    for (let slot = (gap + 1) & last; slots[slot] !== undefined; slot = (slot + 1) & last) {
      const home = marks[slot] as number;
      // An entry stays unless the gap lies between its home slot and its current slot.
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

  /** Returns the mark of a digest: thirty bits, six from each of five characters. */
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

/** Finds an entry by name and marks it as looked up. */
export function findIn(table: Table, name: string): Entry | undefined {
  const entry = table.get(name);
  return entry === undefined ? undefined : asked(entry);
}

/**
 * A faster {@link findIn} for a name that is usually looked up after `before`: the entry `before` remembers which entry
 * followed it. In a large table, {@link findIn} waits for main memory about six times. This function takes less than
 * half as long.
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
  // Writes only if the value changes, because writes are harder on the processor's caches than reads.
  if (!entry.recent) entry.recent = true;
  return entry;
}
