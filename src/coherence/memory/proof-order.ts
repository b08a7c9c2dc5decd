import { makeEntry, type Entry } from './tables.ts';

/**
 * Entries in the order in which they were last read, oldest first. They form a ring in which `#end` separates the
 * newest from the oldest.
 */
export class ProofOrder {
  readonly #end = makeEntry('');

  constructor() {
    this.#end.older = this.#end.newer = this.#end;
  }

  /** The entry read longest ago; `undefined` if the ring is empty. */
  get oldest(): Entry | undefined {
    return this.#end.newer === this.#end ? undefined : this.#end.newer;
  }

  /** Up to `most` entries, starting with the one read longest ago. */
  first(most: number): Entry[] {
    const entries: Entry[] = [];
    for (let entry = this.#end.newer; entries.length < most; entry = entry.newer) {
      if (entry === undefined || entry === this.#end) break;
      entries.push(entry);
    }
    return entries;
  }

  /** Moves an entry to the end, or adds it there, because its fact has just been read. */
  proven(entry: Entry): void {
    this.remove(entry);
    const newest = this.#end.older as Entry;
    entry.older = newest;
    entry.newer = this.#end;
    newest.newer = this.#end.older = entry;
  }

  remove(entry: Entry): void {
    const { older, newer } = entry;
    if (older === undefined || newer === undefined) return;
    older.newer = newer;
    newer.older = older;
    entry.older = entry.newer = undefined;
  }
}
