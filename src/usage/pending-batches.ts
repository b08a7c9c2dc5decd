import type { UsageStore } from '../ports/usage.ts';
import { deliver, positionOf, type DeliveryParts, type SealedBatch } from './delivery.ts';
import type { Journal } from './journal/journal.ts';
import type { OpenRow } from './journal/batch.ts';
import type { Logger } from 'pino';

export interface PendingBatchesParts extends DeliveryParts {
  readonly store: Pick<UsageStore, 'add'>;
  readonly journal: Journal;
  /** Name of this machine or pod. */
  readonly host: string;
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>;
}

/** A sealed batch that the store does not have. */
interface PendingBatch extends Omit<SealedBatch, 'rows' | 'journal'> {
  readonly throughMs: number;
  /** `null` if the rows are only on disk. */
  readonly rows: readonly OpenRow[] | null;
  /** Number of requests counted in the rows. */
  readonly requests: number;
}

/** Sealed batches of this process that the store does not have yet, oldest first. */
export class PendingBatches {
  readonly #parts: PendingBatchesParts;
  readonly #batches: PendingBatch[] = [];
  #throughMs = 0;
  /** Name of the last journal of which the store has a batch, and the number of that batch. */
  #delivered = { id: '', number: 0 };
  #failing = false;

  constructor(parts: PendingBatchesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#batches.length;
  }

  /**
   * Time before which the store has all of this process's counts, milliseconds since 1970; 0 until the process has been
   * announced ({@link announce}).
   */
  get throughMs(): number {
    return this.#throughMs;
  }

  /** Number of requests counted in all pending batches. */
  get requests(): number {
    return this.#batches.reduce((sum, { requests }) => sum + requests, 0);
  }

  add(batch: PendingBatch): void {
    this.#batches.push(batch);
  }

  /** Adds the batches to the store in order. Logs a failure, and keeps the remaining batches for the next call. */
  async deliver(): Promise<void> {
    const { journal } = this.#parts;
    const { id } = journal;
    try {
      for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
        const rows = batch.rows ?? (await journal.read(batch.number)) ?? this.#missing(batch.number);
        await deliver(this.#parts, { ...batch, journal: id, rows });
        // If the id has changed, another process has taken the journal meanwhile.
        if (journal.id !== id) return;
        this.#throughMs = batch.throughMs;
        this.#delivered = { id, number: batch.number };
        this.#batches.shift();
        await journal.remove(batch.number);
        this.#noteSuccess();
      }
    } catch (err) {
      this.#cannotAdd(err);
    }
  }

  /**
   * Tells the store that no more counts from before `throughMs` will follow. `Infinity` means that no more counts will
   * follow at all.
   */
  async announce(throughMs: number): Promise<void> {
    const { store, clock, journal, host, keysPerAccountHour } = this.#parts;
    const { id, number } = this.#delivered;
    const after = positionOf(id === journal.id ? number : 0, 0);
    const nothing = { after, from: after, to: after, rows: [] };
    await clock.during(() =>
      store.add({ journal: journal.id, ...nothing, keysPerAccountHour, throughMs, host }),
    );
    this.#throughMs = throughMs;
    this.#noteSuccess();
  }

  /** Like {@link announce}, but logs a failure instead of rejecting. */
  async tryToAnnounce(throughMs: number): Promise<void> {
    await this.announce(throughMs).catch((err: unknown) => this.#cannotAdd(err));
  }

  /**
   * Forgets all batches, because another process has taken the journal. That process adds the batches that have a file.
   *
   * @returns the rows of the other batches, which are only in memory
   */
  leave(): readonly OpenRow[] {
    const { journal } = this.#parts;
    const inMemory = this.#batches.splice(0).filter(({ number }) => !journal.hasFile(number));
    return inMemory.flatMap(({ rows }) => rows ?? []);
  }

  #missing(batch: number): readonly [] {
    this.#parts.logger.error({ batch }, 'a file of the usage journal is gone, and the counts in it');
    return [];
  }

  /** Logs the end of a series of failures, once the store has accepted everything. */
  #noteSuccess(): void {
    if (this.#batches.length > 0) return;
    if (this.#failing) this.#parts.logger.info('usage is added to the store again');
    this.#failing = false;
  }

  #cannotAdd(err: unknown): void {
    if (!this.#failing)
      this.#parts.logger.warn({ err }, 'usage cannot be added to the store; it is kept and added later');
    this.#failing = true;
  }
}
