import type { UsageStore } from '../ports/usage.ts';
import { deliver, type DeliveryParts, type SealedBatch } from './delivery.ts';
import type { Journal } from './journal/journal.ts';
import type { OpenRow } from './journal/batch.ts';
import type { Logger } from 'pino';

export interface PendingBatchesParts extends DeliveryParts {
  readonly store: Pick<UsageStore, 'add'>;
  readonly journal: Journal;
  /** Name of the journal. */
  readonly id: string;
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>;
}

/** A sealed batch that the store does not have. */
interface PendingBatch extends Omit<SealedBatch, 'rows' | 'journal'> {
  readonly throughMs: number;
  /** `null` where they are on disk alone. */
  readonly rows: readonly OpenRow[] | null;
}

/** The sealed batches of this process that the store does not have, oldest first, and how far it has got with them. */
export class PendingBatches {
  readonly #parts: PendingBatchesParts;
  readonly #batches: PendingBatch[] = [];
  #throughMs = 0;
  #failing = false;

  constructor(parts: PendingBatchesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#batches.length;
  }

  /** The store has everything from before this moment; 0 where nothing was added or announced yet. */
  get throughMs(): number {
    return this.#throughMs;
  }

  add(batch: PendingBatch): void {
    this.#batches.push(batch);
  }

  /** Adds them to the store, in order. Where that fails, what is left is kept for the next time. */
  async deliver(): Promise<void> {
    const { journal, logger, id } = this.#parts;
    try {
      for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
        const rows = batch.rows ?? (await journal.read(batch.number)) ?? this.#missing(batch.number);
        await deliver(this.#parts, { ...batch, journal: id, rows });
        this.#throughMs = batch.throughMs;
        this.#batches.shift();
        await journal.remove(batch.number);
      }
      if (this.#failing) logger.info('usage is added to the store again');
      this.#failing = false;
    } catch (err) {
      this.#cannotAdd(err);
    }
  }

  /** Says that this process has nothing from before a time left to add; `Infinity`: nothing at all. */
  async announce(throughMs: number): Promise<void> {
    const { store, clock, id } = this.#parts;
    await clock.during(() => store.add({ journal: id, from: 0, to: 0, rows: [], throughMs }));
    this.#throughMs = throughMs;
  }

  /** The same, where it may fail. */
  async tryToAnnounce(throughMs: number): Promise<void> {
    await this.announce(throughMs).catch((err: unknown) => this.#cannotAdd(err));
  }

  #missing(batch: number): readonly [] {
    this.#parts.logger.error({ batch }, 'a file of the usage journal is gone, and what was counted in it');
    return [];
  }

  #cannotAdd(err: unknown): void {
    if (!this.#failing)
      this.#parts.logger.warn({ err }, 'usage cannot be added to the store; it is kept and tried again');
    this.#failing = true;
  }
}
