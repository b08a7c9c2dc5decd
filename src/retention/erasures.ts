import { repeat } from '../timing/repeat.ts';
import type { ErasureStore } from '../ports/erasures.ts';
import type { Timers } from '../ports/timers.ts';

const everyMs = 5 * 60_000;
/** Maximum number of rows that one statement erases or looks at. */
const mostAtOnce = 500;
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
 * Erases the personal data of deleted accounts every five minutes, in batches. A batch that fails is tried again in the
 * next round. Returns a function that stops the erasures.
 */
export function eraseDeleted(parts: ErasureParts): () => void {
  return repeat(parts.timers, everyMs, () => erase(parts));
}

async function erase({ erasures, logger, onBatch }: ErasureParts): Promise<void> {
  for (;;) {
    const erasure = await erasures.run({ settledMs, most: mostAtOnce });
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
