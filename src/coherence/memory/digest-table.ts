import { randomInt } from 'node:crypto';
import type { Held, Named, Table } from './entry.ts';

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
export class DigestTable<T extends Named = Held> implements Table<T> {
  readonly #places: readonly number[];
  #slots: (T | undefined)[] = [];
  #marks = new Int32Array(0);
  #size = 0;
  #hand = 0;

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
      const held = slots[slot];
      if (held === undefined || (marks[slot] === mark && held.name === name)) return held;
    }
  }

  add(held: T): void {
    if (2 * (this.#size + 1) > this.#slots.length) this.#grow();
    this.#place(held, this.#markOf(held.name));
    this.#size += 1;
  }

  /** Moves up what follows, so that nothing stands behind a gap (Knuth, The Art of Computer Programming 6.4, algorithm R). */
  delete(held: T): void {
    const [slots, marks, last] = [this.#slots, this.#marks, this.#slots.length - 1];
    let gap = this.#markOf(held.name) & last;
    while (slots[gap] !== held) {
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

  clear(): void {
    this.#make(smallest);
    this.#size = 0;
    this.#hand = 0;
  }

  *all(): Iterable<T> {
    for (const held of this.#slots) if (held !== undefined) yield held;
  }

  turn(): T | undefined {
    if (this.#size === 0) return undefined;
    const last = this.#slots.length - 1;
    for (;;) {
      const held = this.#slots[this.#hand++ & last];
      if (held !== undefined) return held;
    }
  }

  #grow(): void {
    const [slots, marks] = [this.#slots, this.#marks];
    this.#make(2 * slots.length);
    slots.forEach((held, slot) => {
      if (held !== undefined) this.#place(held, marks[slot] as number);
    });
  }

  #make(slots: number): void {
    this.#slots = new Array<T | undefined>(slots).fill(undefined);
    this.#marks = new Int32Array(slots);
  }

  #place(held: T, mark: number): void {
    const last = this.#slots.length - 1;
    let slot = mark & last;
    while (this.#slots[slot] !== undefined) slot = (slot + 1) & last;
    this.#slots[slot] = held;
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
