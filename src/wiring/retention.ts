import type { Registry } from 'prom-client';
import type { Config } from '../config.ts';
import type { Logger } from '../ops/logger.ts';
import { counter } from '../ops/metrics.ts';
import type { Clock } from '../ports/clock.ts';
import type { Timers } from '../ports/timers.ts';
import { pruneEvents } from '../retention/events.ts';
import { pruneUsage } from '../retention/usage.ts';
import type { Store } from './store.ts';

/** Deletes events and usage that are past their retention. */
export interface Retention {
  /** Starts deleting at intervals. Call it once the tables exist. */
  start(): void;
  stop(): void;
}

interface RetentionParts {
  readonly config: Pick<Config, 'events' | 'usage'>;
  readonly store: Pick<Store, 'events' | 'usage'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** Makes the parts that delete events and usage, and their metrics. */
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
  let stops: readonly (() => void)[] = [];
  return {
    start: () => {
      const { hourlyRetentionDays: hourlyDays, retentionMonths: months } = config.usage;
      const days = config.events.retentionDays;
      stops = [
        pruneEvents({ ...tools, events: store.events, days, onDeleted: (deleted) => events.add(deleted) }),
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
