import { repeat } from '../timing/repeat.ts';
import type { AccountId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Timers } from '../ports/timers.ts';
import type { UsageStore } from '../ports/usage.ts';

const everyMs = 10 * 60_000;
/** Maximum number of rows that one statement deletes. */
const mostAtOnce = 1_000;

export interface UsageRetentionParts {
  readonly usage: Pick<UsageStore, 'rollUp' | 'pruneHours' | 'pruneDays'>;
  /** Number of days to keep hourly usage. */
  readonly hourlyDays: number;
  /** Number of months to keep daily usage. */
  readonly months: number;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly timers: Timers;
  readonly logger: { info(fields: object, message: string): void };
  /** Called with the number of deleted rows. */
  readonly onDeleted: (rows: number) => void;
}

/**
 * Rolls up hourly usage into daily usage every ten minutes, then deletes usage past its retention period, both in
 * batches. Returns a function that stops this work.
 */
export function pruneUsage(parts: UsageRetentionParts): () => void {
  return repeat(parts.timers, everyMs, async () => {
    await rollUp(parts);
    await pruneHours(parts);
    await pruneDays(parts);
  });
}

async function rollUp({ usage, logger }: UsageRetentionParts): Promise<void> {
  let portions = 0;
  while (await usage.rollUp()) portions += 1;
  // The first call only chooses the days to roll up. If the second call finishes them, it returns `false`, so
  // `portions` is 1. Days with so little usage are not worth a line in the log.
  if (portions > 1) logger.info({ portions }, 'hours of usage were added up by the day');
}

async function pruneHours(parts: UsageRetentionParts): Promise<void> {
  const { usage, hourlyDays, clock, logger, onDeleted } = parts;
  let rows = 0;
  try {
    let after: AccountId | null = null;
    do {
      const portion = { nowMs: clock.wallMs(), days: hourlyDays, after, most: mostAtOnce };
      const { deleted, next }: Awaited<ReturnType<typeof usage.pruneHours>> = await usage.pruneHours(portion);
      onDeleted(deleted);
      rows += deleted;
      after = next;
    } while (after !== null);
  } finally {
    if (rows > 0)
      logger.info(
        { rows, hourly_retention_days: hourlyDays },
        'hours of usage past their retention were deleted; their days stay',
      );
  }
}

async function pruneDays({ usage, months, clock, logger, onDeleted }: UsageRetentionParts): Promise<void> {
  let rows = 0;
  try {
    for (let deleted = mostAtOnce; deleted === mostAtOnce;) {
      deleted = await usage.pruneDays({ nowMs: clock.wallMs(), months, most: mostAtOnce });
      onDeleted(deleted);
      rows += deleted;
    }
  } finally {
    if (rows > 0)
      logger.info({ rows, retention_months: months }, 'days of usage past their retention were deleted');
  }
}
