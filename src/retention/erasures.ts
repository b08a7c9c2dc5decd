import { repeat } from '../timing/repeat.ts';
import type { Erasure, ErasureStore } from '../ports/erasures.ts';
import type { Timers } from '../ports/timers.ts';

const everyMs = 5 * 60_000;
/** Maximum number of rows that one statement erases or looks at. */
const mostAtOnce = 500;
/** The maximum of the last attempt, after attempts with more rows have failed. */
const fewestAtOnce = 20;
/**
 * Milliseconds after a deletion until its erasure begins. Every statement that began before the deletion has ended by
 * then, because none may take more than a few seconds.
 */
const settledMs = 60_000;

export interface ErasureParts {
  readonly erasures: Pick<ErasureStore, 'run'>;
  readonly timers: Timers;
  readonly logger: { info(fields: object, message: string): void };
  /** Called after each batch. */
  readonly onBatch: () => void;
}

/**
 * Erases the personal data of deleted accounts every five minutes, in batches. A batch that fails is tried again with
 * fewer rows, because a busy store may not finish more in time, and at last in the next round. Returns a function that
 * stops the erasures.
 */
export function eraseDeleted(parts: ErasureParts): () => void {
  return repeat(parts.timers, everyMs, () => erase(parts));
}

async function erase({ erasures, logger, onBatch }: ErasureParts): Promise<void> {
  let most = mostAtOnce;
  for (;;) {
    let erasure: Erasure | null;
    try {
      erasure = await erasures.run({ settledMs, most });
    } catch (error) {
      if (most === fewestAtOnce) throw error;
      most = Math.max(Math.floor(most / 5), fewestAtOnce);
      continue;
    }
    if (erasure === null) return;
    onBatch();
    if (erasure.erasedAt === null) continue;
    const { accountId, accounts, apiKeys, events } = erasure;
    logger.info(
      { account_id: accountId, accounts, api_keys: apiKeys, events },
      'the personal data of a deleted account was erased',
    );
  }
}
