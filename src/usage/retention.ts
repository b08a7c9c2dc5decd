import { repeat } from '../coherence/repeat.ts';
import type { Timers } from '../ports/timers.ts';
import type { UsageStore } from '../ports/usage.ts';

const everyMs = 10 * 60_000;

export interface UsageRetentionParts {
  readonly usage: Pick<UsageStore, 'rollUp'>;
  readonly timers: Timers;
  readonly logger: { info(fields: object, message: string): void };
}

/** Adds up the days of hours that an earlier version stored, portion by portion. Returns how to stop. */
export function keepUsage(parts: UsageRetentionParts): () => void {
  return repeat(parts.timers, everyMs, () => rollUp(parts));
}

async function rollUp({ usage, logger }: UsageRetentionParts): Promise<void> {
  let portions = 0;
  while (await usage.rollUp()) portions += 1;
  if (portions > 0) logger.info({ portions }, 'usage of an earlier version was added up by the day');
}
