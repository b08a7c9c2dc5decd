import type { Registry } from 'prom-client';
import type { Config } from '../config.ts';
import type { Logger } from '../ops/logger.ts';
import { counter } from '../ops/metrics.ts';
import type { Clock } from '../ports/clock.ts';
import type { Timers } from '../ports/timers.ts';
import { eraseDeleted } from '../retention/erasures.ts';
import { eraseAddresses, pruneEvents } from '../retention/events.ts';
import { pruneUsage } from '../retention/usage.ts';
import type { Store } from './store.ts';

/** Deletes events and usage that are past their retention, and erases the personal data of deleted accounts. */
export interface Retention {
  /** Starts deleting at intervals. Call it once the tables exist. */
  start(): void;
  stop(): void;
}

interface RetentionParts {
  readonly config: Pick<Config, 'events' | 'usage'>;
  readonly store: Pick<Store, 'events' | 'erasures' | 'usage'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** Makes the parts that delete and erase, and their metrics. */
export function makeRetention({ config, store, registry, ...tools }: RetentionParts): Retention {
  const events = counter(
    registry,
    'events_deleted_total',
    'Events that were deleted because they were past their retention.',
  );
  const usage = counter(
    registry,
    'usage_rows_deleted_total',
    'Hours and days of usage that were deleted because they were past their retention.',
  );
  const batches = counter(
    registry,
    'erasure_batches_total',
    'Batches in which the personal data of deleted accounts was erased.',
  );
  let stops: readonly (() => void)[] = [];
  return {
    start: () => {
      const { hourlyRetentionDays: hourlyDays, retentionMonths: months } = config.usage;
      const { retentionDays: days, addressRetentionDays: addressDays } = config.events;
      stops = [
        pruneEvents({ ...tools, events: store.events, days, onDeleted: (deleted) => events.add(deleted) }),
        eraseAddresses({ ...tools, erasures: store.erasures, days: addressDays }),
        eraseDeleted({ ...tools, erasures: store.erasures, onBatch: () => batches.add(1) }),
        pruneUsage({
          ...{ ...tools, usage: store.usage, hourlyDays, months },
          onDeleted: (rows) => usage.add(rows),
        }),
      ];
    },
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}
