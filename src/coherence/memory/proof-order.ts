import { makeEntry, type Entry } from './tables.ts';

/** Entries in the order in which they were last read, the longest ago first: a ring that its own end closes. */
export class ProofOrder {
  readonly #end = makeEntry('');

  constructor() {
    this.#end.older = this.#end.newer = this.#end;
  }

  /** The entry that was read longest ago; `undefined` where there is none. */
  get oldest(): Entry | undefined {
    return this.#end.newer === this.#end ? undefined : this.#end.newer;
  }

  /** Up to `most` entries, the one that was read longest ago first. */
  first(most: number): Entry[] {
    const entries: Entry[] = [];
    for (let entry = this.#end.newer; entries.length < most; entry = entry.newer) {
      if (entry === undefined || entry === this.#end) break;
      entries.push(entry);
    }
    return entries;
  }

  /** Puts an entry that was read just now to the end, wherever it is. */
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
