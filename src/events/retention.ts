import { repeat } from '../coherence/repeat.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventStore } from '../ports/events.ts';
import type { Timers } from '../ports/timers.ts';

const everyMs = 10 * 60_000;
/** Events deleted by one statement. */
const mostAtOnce = 1_000;

export interface EventRetentionParts {
  readonly events: Pick<EventStore, 'prune'>;
  /** For how many days events are kept. */
  readonly days: number;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly timers: Timers;
  readonly logger: { info(fields: object, message: string): void };
  /** Is told how many events were deleted. */
  readonly onDeleted: (events: number) => void;
}

/** Deletes events past their retention every now and then, portion by portion. Returns how to stop. */
export function keepEvents(parts: EventRetentionParts): () => void {
  return repeat(parts.timers, everyMs, () => prune(parts));
}

async function prune({ events, days, clock, logger, onDeleted }: EventRetentionParts): Promise<void> {
  let sum = 0;
  try {
    for (let deleted = mostAtOnce; deleted === mostAtOnce;) {
      deleted = await events.prune({ nowMs: clock.wallMs(), days, most: mostAtOnce });
      onDeleted(deleted);
      sum += deleted;
    }
  } finally {
    if (sum > 0)
      logger.info({ events: sum, retention_days: days }, 'events past their retention were deleted');
  }
}
