import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import { sayCause, storeCause } from '../adapters/postgres/connection/causes.ts';
import { startCoherence } from '../coherence/coherence.ts';
import type { CoherenceEvents } from '../coherence/events.ts';
import type { Config } from '../config.ts';
import { pruneEvents } from '../retention/events.ts';
import { coherenceMetrics } from '../ops/coherence-metrics.ts';
import type { Unreadiness } from '../ops/health.ts';
import type { Logger } from '../ops/logger.ts';
import { counter } from '../ops/metrics.ts';
import { watchOldSnapshots } from '../ops/old-snapshots.ts';
import { pruneUsage } from '../retention/usage.ts';
import type { UsageSink } from '../ports/usage.ts';
import type { UsageReplay } from '../ports/usage/replay.ts';
import type { Barrier } from '../ports/barrier.ts';
import type { Clock } from '../ports/clock.ts';
import type { Directory } from '../ports/directory.ts';
import type { RateLimiter } from '../ports/limits/rate-limiter.ts';
import type { Timers } from '../ports/timers.ts';
import { bringUp } from './bring-up.ts';
import { refuseTakenPrefix } from './key-prefix.ts';
import { openLimiter } from './limits/rate-limiter.ts';
import { openCache } from './cache.ts';
import { makeCounting } from './usage/counting.ts';
import { makeExporting } from './usage/export.ts';
import { lateCoherence } from './late-coherence.ts';
import type { Store } from './store.ts';
import { version } from './version.ts';

export interface EngineParts {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** The parts between the store and the listeners: decisions, limits, usage. */
export interface Engine {
  readonly directory: Directory;
  readonly barrier: Barrier;
  /** Clock by which everything expires: the store's, as soon as it is known. */
  readonly clock: Clock;
  readonly usage: UsageSink;
  /** Limits over all replicas; it works even while the store cannot be reached. */
  readonly limiter: RateLimiter;
  /** Exports usage again; `null` if usage is not exported. */
  readonly usageReplay: UsageReplay | null;
  /** Reasons why this process should get no requests: it cannot decide, or is about to end. */
  unready(): readonly Unreadiness[];
  /**
   * Starts to connect to the store. Call it when the process listens, so that a taken port is reported before a store
   * is made.
   */
  start(): void;
  /** Resolves when the store is reached and everything has started. */
  readonly begun: Promise<void>;
  /** The replica's registered id; `null` before it is registered. */
  replicaId(): string | null;
  /** Shows the platform and operators that this process is about to end; it goes on deciding. */
  leave(): void;
  /** Adds the last usage and releases the lease. Call it after the last request. */
  stop(): Promise<void>;
}

/** Makes the engine. While the store cannot be reached, it rejects requests with `unavailable` and keeps trying. */
export function makeEngine({ config, store, clock, timers, logger, registry }: EngineParts): Engine {
  const coherence = lateCoherence(clock);
  const counted = coherenceMetrics(registry, () => coherence.snapshot());
  let trouble: unknown;
  const events: CoherenceEvents = {
    ...counted,
    accountChanged: (id) => limiter.changed(id),
    forgotten: () => {
      counted.forgotten?.();
      limiter.changed(null);
    },
    leaseRenewed: (ms) => {
      trouble = undefined;
      counted.leaseRenewed?.(ms);
    },
    leaseRenewalFailed: (error) => {
      trouble = error;
      counted.leaseRenewalFailed?.(error);
    },
  };
  const cache = openCache(config, {
    clock,
    timers,
    logger,
    registry,
    onBreakerState: (state) => events.breakerState?.(state),
  });
  const counting = makeCounting({
    config: config.usage,
    store: store.usage,
    clock,
    timers,
    logger,
    registry,
  });

  const limiter = openLimiter({
    ...{ config, store, clock, timers, logger, registry, randomId: randomUUID },
    snapshot: () => coherence.snapshot(),
  });
  const exporting = makeExporting({
    ...{ config: config.usage, store: store.usageExport, usage: store.usage },
    ...{ clock, timers, logger, registry },
  });

  const replicaId = (): string | null => coherence.snapshot()?.replica ?? null;
  const snapshots = { source: store.oldSnapshots, replicaId };
  const stopWatching = watchOldSnapshots({ ...snapshots, registry, clock, timers, logger });

  const deletedEvents = counter(
    registry,
    'events_deleted_total',
    'Events that were deleted because they were past their retention.',
  );
  const deletedUsage = counter(
    registry,
    'usage_rows_deleted_total',
    'Hours and days of usage that were deleted because they were past their retention.',
  );
  let stopKeeping: readonly (() => void)[] = [];

  const alone = config.store.kind === 'embedded';
  const begin = async (): Promise<void> => {
    await refuseTakenPrefix(store, config.keys.prefix);
    // Counting begins first, so that no report counts as complete without the requests of this replica.
    await counting.begin();
    const about = { version: version(), host: hostname() };
    const { log, facts: source } = store;
    const parts = { log, source, cache, clock, timers, config: config.coherence, logger, events, about };
    coherence.begin(startCoherence({ ...parts, randomId: randomUUID }));
    limiter.start();
    stopKeeping = [
      pruneEvents({
        ...{ events: store.events, days: config.events.retentionDays, clock, timers, logger },
        onDeleted: (deleted) => deletedEvents.add(deleted),
      }),
      pruneUsage({
        ...{ usage: store.usage, clock, timers, logger },
        ...{ hourlyDays: config.usage.hourlyRetentionDays, months: config.usage.retentionMonths },
        onDeleted: (rows) => deletedUsage.add(rows),
      }),
    ];
    exporting.start();
  };
  const starting = bringUp({
    store,
    // Only this process can open an embedded store, so it must migrate it.
    migrate: config.migrate || alone,
    alone,
    timers,
    clock,
    logger,
    begin,
  });

  let leaving = false;
  return {
    directory: coherence.directory,
    barrier: coherence.barrier,
    clock: coherence.clock,
    usage: counting.usage,
    limiter,
    usageReplay: exporting.replay,
    unready: () => {
      const missing = starting.missing() ?? (coherence.ready() ? null : lapsed(trouble));
      return [...(leaving ? [draining] : []), ...(missing === null ? [] : [missing])];
    },
    start: () => starting.start(),
    begun: starting.done,
    replicaId,
    leave: () => {
      leaving = true;
      coherence.leave();
    },
    stop: async () => {
      starting.stop();
      stopWatching();
      for (const stopOne of stopKeeping) stopOne();
      await exporting.stop();
      await limiter.stop();
      await counting.stop();
      await coherence.stop();
      await cache.close();
    },
  };
}

const draining: Unreadiness = { reason: 'draining', detail: 'This process is about to end.' };

/** @param trouble error of the last renewal */
function lapsed(trouble: unknown): Unreadiness {
  const cause = storeCause(trouble);
  const why = cause === undefined ? 'the database does not answer.' : sayCause(cause);
  return { reason: 'lease_lapsed', detail: `The lease ran out and cannot be renewed: ${why}` };
}
