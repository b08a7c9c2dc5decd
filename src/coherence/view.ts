import type { StampedFact } from '../ports/fact-cache.ts';
import type { FactKey, Seq } from '../ports/facts.ts';
import type { LogReading } from '../ports/coherence-log.ts';
import { LocalCache, type Held } from './local-cache.ts';
import { Window } from './window.ts';

export interface ViewSize {
  /** Facts held at most. */
  readonly facts: number;
  /** Digests of keys that nobody has, held at most, apart from the facts so that they cannot push those out. */
  readonly unknownKeys: number;
}

/**
 * What this replica knows: the log up to a position, and facts that are no older. Whether it may decide by them
 * right now is the lease's to say.
 */
export class View {
  readonly #window: Window;
  readonly #facts: LocalCache;
  readonly #unknownKeys: LocalCache;
  #incarnation: string | null = null;
  #applied: Seq = 0;

  constructor(size: ViewSize, window: Window = new Window()) {
    this.#window = window;
    this.#facts = new LocalCache(size.facts);
    this.#unknownKeys = new LocalCache(size.unknownKeys);
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
    return { facts: this.#facts.size, unknownKeys: this.#unknownKeys.size, window: this.#window.size };
  }

  /**
   * A fact in memory. What is there has survived every reading of the log, so it needs no further judgement in the tick
   * in which it was found.
   *
   * @param name see {@link nameInMemory}
   * @param before what was found just before, where this is what is mostly asked for after it
   */
  find(name: string, before?: Held): Held | undefined {
    const held = before === undefined ? this.#facts.find(name) : this.#facts.findAfter(before, name);
    return held !== undefined ? held : this.#unknownKeys.find(name);
  }

  /** The stamp rule: whether a value from anywhere is as new as everything this replica has confirmed. */
  admits(key: FactKey, fact: StampedFact): boolean {
    return fact.incarnation === this.#incarnation && this.#window.admits(key, fact.seq);
  }

  /**
   * Puts a fact into memory, if it is admitted. Absence is kept for keys alone: nobody can ask for a key before it
   * was made, whereas an account or an `external_id` may appear at any time without waiting for anybody.
   */
  keep(key: FactKey, fact: StampedFact): void {
    if (!this.admits(key, fact)) return;
    if (fact.value !== null) this.#facts.put(nameInMemory(key), fact.value, fact.seq);
    else if (key.startsWith('k:')) this.#unknownKeys.put(nameInMemory(key), null, fact.seq);
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
      this.#facts.dropOlder(nameInMemory(key), seq);
      this.#unknownKeys.dropOlder(nameInMemory(key), seq);
      if (worse) withdrawn.add(key);
    }
    this.#window.raiseFloor(reading.floor);
    this.#incarnation = reading.incarnation;
    this.#applied = reading.seq;
    return withdrawn;
  }

  forget(): void {
    this.#window.clear();
    this.#facts.clear();
    this.#unknownKeys.clear();
    this.#incarnation = null;
    this.#applied = 0;
  }

  #continues(reading: LogReading): boolean {
    return (
      reading.incarnation === this.#incarnation &&
      reading.seq >= this.#applied &&
      reading.floor <= this.#applied + 1
    );
  }
}

/**
 * What a fact goes by in memory: a key by its digest and an account by its id, as requests have them, so that a
 * decision need not put text together; it would cost more than all the rest. None looks like another: a digest has
 * 43 characters, an id 36, and what is left begins with its kind.
 */
function nameInMemory(key: FactKey): string {
  if (!key.startsWith('k:') && !key.startsWith('a:')) return key;
  // A copy of its own: what slice() gives is a view of the longer text, which is slow to compare.
  return Buffer.from(key, 'latin1').toString('latin1', 2);
}
