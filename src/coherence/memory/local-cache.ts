import type { FactValue, Seq } from '../../ports/facts.ts';
import { ProofOrder } from './proof-order.ts';
import { makeEntry, noSeq, type Entry, type Table } from './tables.ts';

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
  readonly #order = new ProofOrder();
  #unproven = 0;

  /** @param makeRoom called before there is one entry more, to drop one where that is too many */
  constructor(table: Table, makeRoom: () => void) {
    this.table = table;
    this.#makeRoom = makeRoom;
  }

  get size(): number {
    return this.table.size;
  }

  /** How many of them decide nothing before they are read again. */
  get unproven(): number {
    return this.#unproven;
  }

  /** The entry that was read longest ago; while some are {@link unproven}, one of those. */
  get oldest(): Entry | undefined {
    return this.#order.oldest;
  }

  /** Names of up to `most` entries, that of {@link oldest} first. */
  oldestNames(most: number): string[] {
    return this.#order.first(most).map(({ name }) => name);
  }

  /** Keeps a value, unless it has a newer one. @param readS when its reading began; whole seconds, monotonic */
  put(name: string, value: FactValue, seq: Seq, readS: number): void {
    let entry = this.table.get(name);
    if (entry === undefined) {
      this.#makeRoom();
      entry = makeEntry(name);
      this.table.add(entry);
    } else if (entry.seq > seq) return;
    else if (entry.value === undefined) this.#unproven -= 1;
    entry.value = value;
    entry.seq = seq;
    entry.provenS = readS;
    this.#order.proven(entry);
  }

  /** Drops the value that was read before `seq` under `name`. An unproven entry has none. */
  dropOlder(name: string, seq: Seq): void {
    const entry = this.table.get(name);
    if (entry?.value !== undefined && entry.seq < seq) this.#drop(entry);
  }

  /** Drops what is under `name`, unless it has a newer value than of `seq`, at which there was none. */
  dropAbsent(name: string, seq: Seq): void {
    const entry = this.table.get(name);
    if (entry !== undefined && entry.seq <= seq) this.#drop(entry);
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

  /** Takes the value from every entry, and keeps its name alone: to be read again, in another history perhaps. */
  unprove(): void {
    for (const entry of this.table.all()) {
      entry.value = undefined;
      entry.next = undefined;
      entry.seq = noSeq;
    }
    this.#unproven = this.size;
  }

  #drop(entry: Entry): void {
    if (entry.value === undefined) this.#unproven -= 1;
    entry.value = undefined;
    entry.next = undefined;
    this.#order.remove(entry);
    this.table.delete(entry);
  }
}
