import { getRandomValues } from 'node:crypto';
import type { Seq } from '../../ports/facts.ts';

/**
 * Digests of keys that do not exist, at most `most` of them. To make room, at most half of the digests are dropped:
 * those looked up longest ago.
 *
 * A client can make up thousands of keys a second. An object for each would keep the garbage collector busy, so the
 * digests are stored in two tables of plain numbers. When the newer table is full, the older one is emptied and takes
 * its place.
 */
export class UnknownKeys {
  readonly #mostOfOne: number;
  readonly #digest = new Words();
  #newer: DigestSet;
  #older: DigestSet;

  /** @param most maximum number of keys held at once, at least 2 */
  constructor(most: number) {
    this.#mostOfOne = Math.max(1, Math.floor(most / 2));
    this.#newer = new DigestSet(this.#mostOfOne);
    this.#older = new DigestSet(this.#mostOfOne);
  }

  get size(): number {
    return this.#newer.size + this.#older.size;
  }

  has(digest: string): boolean {
    if (!this.#digest.read(digest)) return false;
    if (this.#newer.seqOf(this.#digest) !== undefined) return true;
    const seq = this.#older.seqOf(this.#digest);
    if (seq === undefined) return false;
    this.#move(seq);
    return true;
  }

  /** @param seq position of the reading that did not find the key */
  add(digest: string, seq: Seq): void {
    if (!this.#digest.read(digest)) return;
    const present = this.#newer.seqOf(this.#digest) ?? this.#older.seqOf(this.#digest) ?? seq;
    this.#move(Math.max(seq, present));
  }

  /** Drops a key if it was noted as absent at a position before `seq`. */
  dropOlder(digest: string, seq: Seq): void {
    if (!this.#digest.read(digest)) return;
    for (const set of [this.#newer, this.#older]) {
      const present = set.seqOf(this.#digest);
      if (present !== undefined && present < seq) set.drop(this.#digest);
    }
  }

  clear(): void {
    this.#newer.clear();
    this.#older.clear();
  }

  /** Puts the digest just read into the newer table and removes it from the older one. */
  #move(seq: Seq): void {
    this.#older.drop(this.#digest);
    if (this.#newer.used >= this.#mostOfOne) {
      [this.#newer, this.#older] = [this.#older, this.#newer];
      this.#newer.clear();
    }
    this.#newer.set(this.#digest, seq);
  }
}

const wordsOfDigest = 8;

/** A SHA-256 digest as numbers. One object is reused for all digests, so that they leave no garbage behind. */
class Words {
  readonly at = new Int32Array(wordsOfDigest);
  readonly #bytes = Buffer.from(this.at.buffer);

  /**
   * Decodes a digest into {@link at}. Returns `false` if the string is not a digest.
   *
   * @param digest base64url
   */
  read(digest: string): boolean {
    return this.#bytes.write(digest, 'base64url') === this.#bytes.length;
  }
}

/** Values stored instead of a position: `free` if the slot was never used, `dropped` if its digest was dropped. */
const [free, dropped] = [-1, -2];

/**
 * A hash table of digests, each with a log position. It uses open addressing and linear probing, and is at most half
 * full. A dropped digest keeps its slot until everything is cleared.
 *
 * Secret random numbers determine a digest's slot, so a client cannot force collisions by choosing keys whose digests
 * share many bits.
 */
class DigestSet {
  /** Number of used slots, including those of dropped digests. */
  used = 0;
  size = 0;
  readonly #words: Int32Array;
  readonly #seqs: Float64Array;
  readonly #factors = getRandomValues(new Int32Array(wordsOfDigest));

  /** @param most maximum number of slots used between two calls to {@link clear} */
  constructor(most: number) {
    const slots = 2 ** Math.ceil(Math.log2(2 * most + 1));
    this.#words = new Int32Array(slots * wordsOfDigest);
    this.#seqs = new Float64Array(slots).fill(free);
  }

  seqOf(digest: Words): Seq | undefined {
    const seq = this.#seqs[this.#slotOf(digest)] as number;
    return seq >= 0 ? seq : undefined;
  }

  set(digest: Words, seq: Seq): void {
    const slot = this.#slotOf(digest);
    const before = this.#seqs[slot] as number;
    if (before === free) {
      this.#words.set(digest.at, slot * wordsOfDigest);
      this.used += 1;
    }
    if (before < 0) this.size += 1;
    this.#seqs[slot] = seq;
  }

  drop(digest: Words): void {
    const slot = this.#slotOf(digest);
    if ((this.#seqs[slot] as number) < 0) return;
    this.#seqs[slot] = dropped;
    this.size -= 1;
  }

  clear(): void {
    if (this.used > 0) this.#seqs.fill(free);
    this.used = this.size = 0;
  }

  /** Returns the digest's slot, or the free slot where it would go. */
  #slotOf({ at }: Words): number {
    const last = this.#seqs.length - 1;
    let mixed = 0;
    for (let i = 0; i < wordsOfDigest; i++)
      mixed = (mixed + Math.imul(at[i] as number, this.#factors[i] as number)) | 0;
    // The lower bits of a product depend only on the lower bits of each word, so the upper bits are mixed in.
    let slot = (mixed ^ (mixed >>> 16)) & last;
    while (this.#seqs[slot] !== free && !this.#isAt(slot, at)) slot = (slot + 1) & last;
    return slot;
  }

  #isAt(slot: number, digest: Int32Array): boolean {
    const from = slot * wordsOfDigest;
    for (let i = 0; i < wordsOfDigest; i++) if (this.#words[from + i] !== digest[i]) return false;
    return true;
  }
}
