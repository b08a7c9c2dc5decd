import type { FactValue, Seq } from '../../ports/facts.ts';
import type { Entry, Table } from './tables.ts';

/** How many recently used entries an insertion may pass over, so that none takes long. */
const passes = 64;

/**
 * Which facts are kept in memory. What to drop is chosen by the clock algorithm: the clock hand goes round over the
 * entries and takes the first that was not asked for since it last came by.
 */
export class LocalCache {
  /** Where what is kept is found. */
  readonly table: Table;
  readonly #makeRoom: () => void;

  /** @param makeRoom called before there is one entry more, to drop one where that is too many */
  constructor(table: Table, makeRoom: () => void) {
    this.table = table;
    this.#makeRoom = makeRoom;
  }

  get size(): number {
    return this.table.size;
  }

  /** Keeps a value, unless it has a newer one. */
  put(name: string, value: FactValue, seq: Seq): void {
    const present = this.table.get(name);
    if (present !== undefined) {
      if (present.seq > seq) return;
      present.value = value;
      present.seq = seq;
      return;
    }
    this.#makeRoom();
    this.table.add({ name, value, seq, recent: false, next: undefined, nextName: '' });
  }

  /** Drops what was read before `seq` under `name`. */
  dropOlder(name: string, seq: Seq): void {
    const entry = this.table.get(name);
    if (entry !== undefined && entry.seq < seq) this.#drop(entry);
  }

  /** Drops one entry, if there is any. */
  dropOne(): void {
    for (let passed = 0; ; passed++) {
      const entry = this.table.turn();
      if (entry === undefined) return;
      if (!entry.recent || passed >= passes) return this.#drop(entry);
      entry.recent = false;
    }
  }

  clear(): void {
    for (const entry of this.table.all()) entry.value = undefined;
    this.table.clear();
  }

  #drop(entry: Entry): void {
    entry.value = undefined;
    entry.next = undefined;
    this.table.delete(entry);
  }
}
