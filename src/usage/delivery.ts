import type { UsageRow } from '../domain/usage.ts';
import type { Seq } from '../ports/facts.ts';
import { UnusableUsage, type UsageStore } from '../ports/usage.ts';
import type { PortionSize } from './portion-size.ts';
import type { StoreClock } from './store-clock.ts';
import type { Logger } from 'pino';

export interface DeliveryParts {
  readonly store: Pick<UsageStore, 'add'>;
  readonly clock: StoreClock;
  readonly portion: PortionSize;
  /** @see UsageBatch.keysPerAccountHour */
  readonly keysPerAccountHour: number;
  readonly logger: Pick<Logger, 'error'>;
  /** Called for every usage row that is dropped because the store always rejects it. */
  readonly onSetAside?: (() => void) | undefined;
}

/** A sealed batch: its rows and their order never change again. */
export interface SealedBatch {
  readonly journal: string;
  /** Number of the batch in its journal, from 1. */
  readonly number: number;
  readonly rows: readonly UsageRow[];
  /** @see UsageBatch.throughMs */
  readonly throughMs: number | null;
  /** @see UsageBatch.readThrough */
  readonly readThrough?: Seq | null;
}

/** Size of the range of row numbers reserved for each batch; no batch has that many rows. */
const positionsPerBatch = 2 ** 20;

/**
 * Returns a row's number within its journal.
 *
 * @param number the batch's number
 * @param index the row's index within the batch
 */
export function positionOf(number: number, index: number): number {
  return number * positionsPerBatch + index;
}

/**
 * Adds a batch to the store, at most {@link PortionSize.rows} rows at a time. The store recognises rows that it already
 * has by their numbers. So any process may repeat this call, even after an attempt that got only halfway. A row that
 * the store can never add is logged and dropped.
 *
 * @throws if the store cannot be reached
 */
export async function deliver(parts: DeliveryParts, batch: SealedBatch): Promise<void> {
  const { length } = batch.rows;
  const { portion } = parts;
  let from = 0;
  try {
    do {
      from = await deliverRange(parts, batch, from, Math.min(from + portion.rows, length));
      portion.succeeded();
    } while (from < length);
  } catch (error) {
    portion.failed();
    throw error;
  }
}

/** Adds a range of a batch's rows. Returns the index of the first row that the store does not have yet. */
async function deliverRange(
  parts: DeliveryParts,
  batch: SealedBatch,
  from: number,
  to: number,
): Promise<number> {
  const { journal, number, rows, throughMs, readThrough = null } = batch;
  const { keysPerAccountHour } = parts;
  const add = async (some: readonly UsageRow[]): Promise<number> => {
    const { rowsIn } = await parts.clock.during(() =>
      parts.store.add({
        ...{ journal, from: positionOf(number, from), to: positionOf(number, to), rows: some },
        after: from > 0 ? positionOf(number, from) : positionOf(number - 1, 0),
        ...{ keysPerAccountHour, readThrough },
        throughMs: to === rows.length ? throughMs : null,
      }),
    );
    return Math.min(rowsIn - positionOf(number, 0), rows.length);
  };
  try {
    return await add(rows.slice(from, to));
  } catch (err) {
    if (!(err instanceof UnusableUsage) || from === to) throw err;
    if (to - from > 1) {
      const next = await deliverRange(parts, batch, from, from + Math.ceil((to - from) / 2));
      return next < to ? deliverRange(parts, batch, next, to) : next;
    }
    parts.logger.error(
      { err, row: rows[from] },
      'usage that the store can never add is set aside; `row` holds the lost counts',
    );
    parts.onSetAside?.();
    // Adding no rows for this range makes the store skip the dropped row.
    return add([]);
  }
}
