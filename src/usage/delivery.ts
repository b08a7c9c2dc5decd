import type { UsageRow } from '../domain/usage.ts';
import { UnusableUsage, type UsageStore } from '../ports/usage.ts';
import type { PortionSize } from './portion-size.ts';
import type { StoreClock } from './store-clock.ts';
import type { Logger } from 'pino';

export interface DeliveryParts {
  readonly store: Pick<UsageStore, 'add'>;
  readonly clock: StoreClock;
  readonly portion: PortionSize;
  readonly logger: Pick<Logger, 'error'>;
  /** Called for every row that the store can never add. */
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
}

/** Number of positions reserved for one batch. A batch cannot have that many rows. */
const positionsPerBatch = 2 ** 20;

/** Position of a row in its journal. @param index index of the row in its batch */
function positionOf(number: number, index: number): number {
  return number * positionsPerBatch + index;
}

/**
 * Adds a batch to the store in portions. The store recognises the rows it already has by their positions, so any
 * process may repeat this at any time, even after a half-done attempt. A row that the store can never add is set aside,
 * and all others are added.
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

/** Returns the index of the first row that the store does not have. */
async function deliverRange(
  parts: DeliveryParts,
  batch: SealedBatch,
  from: number,
  to: number,
): Promise<number> {
  const { journal, number, rows, throughMs } = batch;
  const add = async (some: readonly UsageRow[]): Promise<number> => {
    const { rowsIn } = await parts.clock.during(() =>
      parts.store.add({
        ...{ journal, from: positionOf(number, from), to: positionOf(number, to), rows: some },
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
    // An empty addition moves the position past the row.
    return add([]);
  }
}
