import { repeat } from '../timing/repeat.ts';
import type { Clock } from '../ports/clock.ts';
import type { ErasureStore } from '../ports/erasures.ts';
import type { EventStore } from '../ports/events.ts';
import type { Timers } from '../ports/timers.ts';

const everyMs = 10 * 60_000;
/** Maximum number of events that one statement deletes, or erases the addresses of. */
const mostAtOnce = 1_000;

export interface EventRetentionParts {
  readonly events: Pick<EventStore, 'prune'>;
  /** Number of days to keep events. */
  readonly days: number;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly timers: Timers;
  readonly logger: { info(fields: object, message: string): void };
  /** Called with the number of deleted events. */
  readonly onDeleted: (events: number) => void;
}

export interface AddressRetentionParts {
  readonly erasures: Pick<ErasureStore, 'eraseAddresses'>;
  /** Number of days to keep the addresses in events. */
  readonly days: number;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly timers: Timers;
}

/**
 * Erases clients' addresses from events past their retention every ten minutes, in batches. Returns a function that
 * stops that.
 */
export function eraseAddresses({ erasures, days, clock, timers }: AddressRetentionParts): () => void {
  return repeat(timers, everyMs, async () => {
    for (let looked = mostAtOnce; looked === mostAtOnce;)
      looked = await erasures.eraseAddresses({ nowMs: clock.wallMs(), days, most: mostAtOnce });
  });
}

/**
 * Deletes events and ended keys past their retention period every ten minutes, in batches. Returns a function that stops the
 * deletions.
 */
export function pruneEvents(parts: EventRetentionParts): () => void {
  return repeat(parts.timers, everyMs, () => prune(parts));
}

async function prune({ events, days, clock, logger, onDeleted }: EventRetentionParts): Promise<void> {
  let sum = 0;
  try {
    for (let more = true; more;) {
      const pruned = await events.prune({ nowMs: clock.wallMs(), days, most: mostAtOnce });
      onDeleted(pruned.deleted);
      sum += pruned.deleted;
      more = pruned.more;
    }
  } finally {
    if (sum > 0)
      logger.info({ events: sum, retention_days: days }, 'events past their retention were deleted');
  }
}
