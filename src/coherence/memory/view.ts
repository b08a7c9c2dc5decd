import type { StampedFact } from '../../ports/fact-cache.ts';
import type { FactKey, Seq } from '../../ports/facts.ts';
import type { LogReading } from '../../ports/coherence-log.ts';
import { DigestTable } from './digest-table.ts';
import type { Held } from './entry.ts';
import { LocalCache, NameTable } from './local-cache.ts';
import { UnknownKeys } from './unknown-keys.ts';
import { Window } from './recent-changes.ts';

export interface ViewSize {
  /** Facts held at most. */
  readonly facts: number;
  /** Digests of keys that do not exist, held at most; apart from the facts, so that they cannot push those out. */
  readonly unknownKeys: number;
}

/**
 * What this replica knows: the log up to a position, and facts that are no older. Whether it may decide by them
 * right now is the lease's to say.
 */
export class View {
  readonly #window: Window;
  readonly #size: ViewSize;
  readonly #keys = new LocalCache(new DigestTable(), () => this.#makeRoom());
  readonly #others = new LocalCache(new NameTable(), () => this.#makeRoom());
  readonly #unknownKeys: UnknownKeys;
  #incarnation: string | null = null;
  #applied: Seq = 0;

  constructor(size: ViewSize, window: Window = new Window()) {
    this.#window = window;
    this.#size = size;
    this.#unknownKeys = new UnknownKeys(size.unknownKeys);
  }

  /** The history that positions belong to; `null` before the log was first read. */
  get incarnation(): string | null {
    return this.#incarnation;
  }

  /** Position up to which the log was taken in. */
  get applied(): Seq {
    return this.#applied;
  }

  get sizes(): { readonly facts: number; readonly unknownKeys: number; readonly window: number } {
    return { facts: this.#facts, unknownKeys: this.#unknownKeys.size, window: this.#window.size };
  }

  /**
   * A key in memory, also one that does not exist. It has survived every reading of the log, so it needs no further check
   * in the tick in which it was found.
   */
  findKey(digest: string): Held | undefined {
    return this.#keys.find(digest) ?? (this.#unknownKeys.has(digest) ? nobodys : undefined);
  }

  /**
   * Any other fact, likewise.
   *
   * @param name see {@link nameInMemory}
   * @param before what was found just before, where this is what is mostly asked for after it
   */
  find(name: string, before?: Held): Held | undefined {
    return before === undefined ? this.#others.find(name) : this.#others.findAfter(before, name);
  }

  /** The stamp rule: whether a value from anywhere is as new as everything this replica has confirmed. */
  admits(key: FactKey, fact: StampedFact): boolean {
    return fact.incarnation === this.#incarnation && this.#window.admits(key, fact.seq);
  }

  /**
   * Puts a fact into memory, if it is admitted. Absence is kept for keys alone: a client cannot ask for a key before
   * it was made, whereas an account or an `external_id` may appear at any time, without waiting for replicas.
   */
  keep(key: FactKey, fact: StampedFact): void {
    if (!this.admits(key, fact)) return;
    const { value, seq } = fact;
    const name = nameInMemory(key);
    if (!key.startsWith('k:')) {
      if (value !== null) this.#others.put(name, value, seq);
    } else if (value !== null) this.#keys.put(name, value, seq);
    else this.#unknownKeys.add(name, seq);
  }

  /**
   * Takes in a reading of the log. Returns the facts that changed for the worse, or `'lost'` where the reading does
   * not continue what is known: then nothing was taken in, and everything must be forgotten.
   */
  take(reading: LogReading): ReadonlySet<FactKey> | 'lost' {
    if (this.#incarnation !== null && !this.#continues(reading)) return 'lost';
    const withdrawn = new Set<FactKey>();
    for (const { seq, key, withdrawn: worse } of reading.entries) {
      this.#window.record(key, seq);
      const name = nameInMemory(key);
      for (const cache of key.startsWith('k:') ? [this.#keys, this.#unknownKeys] : [this.#others])
        cache.dropOlder(name, seq);
      if (worse) withdrawn.add(key);
    }
    this.#window.raiseFloor(reading.floor);
    this.#incarnation = reading.incarnation;
    this.#applied = reading.seq;
    return withdrawn;
  }

  forget(): void {
    this.#window.clear();
    this.#keys.clear();
    this.#others.clear();
    this.#unknownKeys.clear();
    this.#incarnation = null;
    this.#applied = 0;
  }

  get #facts(): number {
    return this.#keys.size + this.#others.size;
  }

  /** From where there is more, so that neither keys nor anything else can push out all of the other. */
  #makeRoom(): void {
    if (this.#facts < this.#size.facts) return;
    const fuller = this.#keys.size > this.#others.size ? this.#keys : this.#others;
    fuller.dropOne();
  }

  #continues(reading: LogReading): boolean {
    return (
      reading.incarnation === this.#incarnation &&
      reading.seq >= this.#applied &&
      reading.floor <= this.#applied + 1
    );
  }
}

/** What is held of a key that does not exist. */
const nobodys: Held = { name: '', value: null, seq: 0, recent: true, next: undefined, nextName: '' };

/**
 * What a fact goes by in memory: a key by its digest and an account by its id, as requests have them, so that a
 * decision need not put text together; it would cost more than all the rest. Keys are held apart; of the others an id has
 * 36 characters and no colon, and what is left begins with its kind.
 */
function nameInMemory(key: FactKey): string {
  if (!key.startsWith('k:') && !key.startsWith('a:')) return key;
  // A copy of its own: what slice() gives is a view of the longer text, which is slow to compare.
  return Buffer.from(key, 'latin1').toString('latin1', 2);
}
