import type { FactValue, Seq } from '../../ports/facts.ts';
import { ProofOrder } from './proof-order.ts';
import { makeEntry, noSeq, type Entry, type Table } from './tables.ts';

/**
 * Maximum number of recently used entries that an insertion skips when it has to drop one. So no insertion takes long.
 */
const passes = 64;

/**
 * Facts in memory. The clock algorithm picks the fact to drop: a hand sweeps around the entries and drops the first one
 * that has not been looked up since the hand last passed it.
 */
export class LocalCache {
  readonly table: Table;
  readonly #makeRoom: () => void;
  readonly #order = new ProofOrder();
  #unproven = 0;

  /** @param makeRoom called before an entry is added; drops an entry if memory is full */
  constructor(table: Table, makeRoom: () => void) {
    this.table = table;
    this.#makeRoom = makeRoom;
  }

  get size(): number {
    return this.table.size;
  }

  /** Number of entries that must be reread before decisions can use them. */
  get unproven(): number {
    return this.#unproven;
  }

  /** The entry read longest ago. If any entries are {@link unproven}, the oldest entry is unproven, too. */
  get oldest(): Entry | undefined {
    return this.#order.oldest;
  }

  /** Names of up to `most` entries, starting with the one read longest ago. */
  oldestNames(most: number): string[] {
    return this.#order.first(most).map(({ name }) => name);
  }

  /**
   * Stores a value, unless the cache holds a newer one.
   *
   * @param readS when the read began, in seconds on the monotonic clock
   */
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

  /** Drops the entry called `name` if its value was read before `seq`. An unproven entry has no value, so it stays. */
  dropOlder(name: string, seq: Seq): void {
    const entry = this.table.get(name);
    if (entry?.value !== undefined && entry.seq < seq) this.#drop(entry);
  }

  /** Drops the entry called `name`, because the fact was absent at `seq`. An entry with a newer value stays. */
  dropAbsent(name: string, seq: Seq): void {
    const entry = this.table.get(name);
    if (entry !== undefined && entry.seq <= seq) this.#drop(entry);
  }

  /** Drops one entry, if there are any. */
  dropOne(): void {
    for (let passed = 0; ; passed++) {
      const entry = this.table.turn();
      if (entry === undefined) return;
      if (!entry.recent || passed >= passes) return this.#drop(entry);
      entry.recent = false;
    }
  }

  /** Removes every entry's value but keeps its name, so that the fact can be reread later. */
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
