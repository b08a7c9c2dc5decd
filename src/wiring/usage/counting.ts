import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import { FolderInUse, lockFolder } from '../../adapters/files/folder-lock.ts';
import type { UsageConfig } from '../../config.ts';
import type { Logger } from '../../ops/logger.ts';
import { counter, gauge } from '../../ops/metrics.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Timers } from '../../ports/timers.ts';
import type { UsageStore } from '../../ports/usage.ts';
import { replayAbandoned } from '../../usage/journal/abandoned.ts';
import { Journal, type LockFolder } from '../../usage/journal/journal.ts';
import { UsageRecorder } from '../../usage/recorder.ts';
import { StoreClock } from '../../usage/store-clock.ts';

export interface CountingParts {
  readonly config: Pick<UsageConfig, 'journalDir' | 'journalMaxBytes'>;
  readonly store: UsageStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** Counts requests of this process, and takes over the journals of dead processes. */
export interface Counting {
  readonly usage: UsageRecorder;
  /** @see UsageRecorder.begin */
  begin(): Promise<void>;
  /** @see UsageRecorder.stop */
  stop(): Promise<void>;
}

/** Makes the counting with its metrics. */
export function makeCounting(parts: CountingParts): Counting {
  const { config, store, registry } = parts;
  const id = randomUUID();
  const { journalDir: dir, journalMaxBytes: mostBytes } = config;
  const journal = new Journal({ dir, id, mostBytes, lock });
  const setAside = counter(
    registry,
    'usage_rows_set_aside_total',
    'Rows of usage whose content the database rejected; the log has them.',
  );
  const lost = counter(
    registry,
    'usage_lost_requests_total',
    'Requests that were not counted, because the journal cannot be written and memory is full.',
  );
  const onSetAside = (): void => setAside.count();
  const usage = new UsageRecorder({ ...parts, id, journal, onSetAside, onLost: () => lost.count() });
  gauge(
    registry,
    'usage_lag_seconds',
    'Age of the oldest usage that is not yet in the store.',
    () => usage.lagMs() / 1000,
  );
  gauge(
    registry,
    'usage_journal_unwritable',
    '1 while the usage journal cannot be written, so that a crash would lose counts.',
    () => Number(usage.unwritable),
  );
  gauge(registry, 'usage_journal_bytes', 'Size of the usage journal on disk.', () => journal.bytes, 'sum');

  let stopReplaying = async (): Promise<void> => undefined;
  return {
    usage,
    begin: async () => {
      const storeId = await usage.begin();
      const clock = new StoreClock(parts.clock);
      stopReplaying = replayAbandoned({ ...parts, store, clock, dir, own: id, lock, onSetAside }, storeId);
    },
    stop: async () => {
      await stopReplaying();
      await usage.stop();
    },
  };
}

const lock: LockFolder = async (folder) => {
  try {
    return await lockFolder(folder);
  } catch (error) {
    if (error instanceof FolderInUse) return null;
    throw error;
  }
};
