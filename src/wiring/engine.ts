import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import { startCoherence, type CoherenceSnapshot } from '../coherence/coherence.ts';
import type { CoherenceEvents } from '../coherence/events.ts';
import { timingFor } from '../coherence/timing.ts';
import type { Config } from '../config.ts';
import { coherenceMetrics } from '../ops/coherence-metrics.ts';
import type { Unreadiness } from '../ops/health.ts';
import type { Logger } from '../ops/logger.ts';
import { watchOldSnapshots } from '../ops/old-snapshots.ts';
import type { UsageSink } from '../ports/usage.ts';
import type { UsageReplay } from '../ports/usage/replay.ts';
import type { Barrier } from '../ports/barrier.ts';
import type { Clock } from '../ports/clock.ts';
import type { Directory, FactsAge } from '../ports/directory.ts';
import type { RateLimiter } from '../ports/limits/rate-limiter.ts';
import type { Timers } from '../ports/timers.ts';
import { bringUp } from './bring-up.ts';
import { refuseTakenPrefix } from './key-prefix.ts';
import { openLimiter } from './limits/rate-limiter.ts';
import { openCache } from './cache.ts';
import { makeCounting, UsageLeft } from './usage/counting.ts';
import { makeExporting, type ExportingParts } from './usage/export.ts';
import { lateCoherence } from './late-coherence.ts';
import type { Patience } from './patience.ts';
import { makeReadiness, type Readiness } from './readiness.ts';
import { makeRetention } from './retention.ts';
import type { Store } from './store.ts';
import { version } from './version.ts';

export interface EngineParts extends Pick<ExportingParts, 'lookup'> {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly patience: Patience;
}

/** The parts between the store and the listeners: decisions, limits, usage. */
export interface Engine {
  readonly directory: Directory;
  readonly barrier: Barrier;
  /**
   * Clock that decides whether something has expired: the store's clock or, until that is known, this machine's clock.
   */
  readonly clock: Clock;
  readonly usage: UsageSink;
  /** Limits requests across all replicas, even while the store cannot be reached. */
  readonly limiter: RateLimiter;
  /** Re-exports the usage of past hours; `null` if usage is not exported. */
  readonly usageReplay: UsageReplay | null;
  /** Returns the reasons why this process should get no requests; see {@link Readiness.unready}. */
  unready(): readonly Unreadiness[];
  /**
   * Starts connecting to the store. Call it once the process listens, so that a port already in use is reported before
   * an embedded store is created.
   */
  start(): void;
  /** Resolves once the store has been reached and everything has started. */
  readonly begun: Promise<void>;
  /** Returns the id under which this replica is registered; `null` before it is registered. */
  replicaId(): string | null;
  /** Returns how new the facts of this replica are; `null` before it has read any changes. */
  factsAge(): FactsAge | null;
  /** Returns whether Redis can be used; `off` if none is configured. */
  redis(): 'up' | 'down' | 'off';
  /**
   * Signals to the platform and operators that this process is about to end. The process keeps making decisions.
   *
   * @param withinMs milliseconds until the process must have ended
   */
  leave(withinMs: number): void;
  /**
   * Adds the last usage counts to the store and releases the lease. Call it after the last request.
   *
   * @throws {UsageLeft} if usage could not be added in time; everything else has been stopped by then
   */
  stop(): Promise<void>;
}

/**
 * When an account gets a new quota, each replica first adds its counts to the store, and then confirms the quota.
 * Adding the counts may take at most this fraction of the lease duration.
 */
const quotaShare = 0.1;

/**
 * Makes the engine. While the store cannot be reached, the engine rejects requests with `unavailable` and keeps trying
 * to connect.
 */
export async function makeEngine(parts: EngineParts): Promise<Engine> {
  const { config, store, registry, patience, ...tools } = parts;
  const coherence = lateCoherence(tools.clock);
  const counted = coherenceMetrics(registry, () => coherence.snapshot());
  const readiness = makeReadiness({ missing: () => starting.missing(), holdsLease: () => coherence.ready() });
  const events = reporting(counted, readiness, () => counting.deliver(config.coherence.leaseMs * quotaShare));
  const cache = await openCache(config, {
    ...{ ...tools, registry },
    onBreakerState: (state) => events.breakerState?.(state),
  });
  const readThrough = () => coherence.snapshot()?.readThrough ?? null;
  const forUsage = { ...tools, config: config.usage, registry };
  const counting = makeCounting({ ...forUsage, store: store.usage, readThrough });
  const limiter = await openLimiter({ ...parts, randomId: randomUUID, snapshot: () => coherence.snapshot() });
  const exporting = makeExporting({ ...forUsage, store: store.usageExport, usage: store.usage });
  const replicaId = () => coherence.snapshot()?.replica ?? null;
  const stopWatching = watchOldSnapshots({ ...tools, source: store.oldSnapshots, replicaId, registry });
  const retention = makeRetention(parts);

  const alone = config.store.kind === 'embedded';
  const begin = async (): Promise<void> => {
    await refuseTakenPrefix(store, config.keys.prefix);
    // Counting starts before this replica serves requests, so that reports wait for the counts of those requests.
    await counting.begin();
    const about = { version: version(), host: hostname() };
    const { leaseMs, streamsMs } = config.coherence;
    const timing = timingFor(leaseMs, streamsMs, patience.deadlines.coherenceMs);
    const read = { log: store.log, source: store.facts, cache, config: config.coherence, events, about };
    coherence.begin(startCoherence({ ...tools, ...read, timing, randomId: randomUUID }));
    for (const part of [limiter, retention, exporting]) part.start();
  };
  // Only this process can open an embedded store, so this process has to migrate the store.
  const starting = bringUp({ ...tools, store, migrate: config.migrate || alone, alone, begin });

  return {
    ...{ directory: coherence.directory, barrier: coherence.barrier, clock: coherence.clock },
    usage: counting.usage,
    limiter,
    usageReplay: exporting.replay,
    unready: () => readiness.unready(),
    ...{ start: () => starting.start(), begun: starting.done },
    ...{ replicaId, factsAge: () => factsAgeOf(coherence.snapshot()) },
    redis: () => cache.state(),
    leave: (withinMs) => {
      counting.leave(withinMs);
      readiness.leave();
      coherence.leave();
    },
    stop: async () => {
      starting.stop();
      stopWatching();
      retention.stop();
      await exporting.stop();
      await limiter.stop();
      const requests = await counting.stop();
      await coherence.stop();
      await cache.close();
      if (requests > 0) throw new UsageLeft(requests);
    },
  };
}

function factsAgeOf(snapshot: CoherenceSnapshot | null): FactsAge | null {
  if (snapshot === null || !Number.isFinite(snapshot.readAgeMs)) return null;
  const { replica, applied, readAgeMs } = snapshot;
  return { replica, applied, ageMs: readAgeMs };
}

/**
 * Makes the listener that passes coherence events to metrics, readiness and usage.
 *
 * @param quotaSet called after an account's quota has been set; adds this process's counts to the store
 */
function reporting(
  counted: CoherenceEvents,
  readiness: Readiness,
  quotaSet: () => Promise<void>,
): CoherenceEvents {
  return {
    ...counted,
    quotaSet,
    leaseRenewed: (ms) => {
      readiness.leaseRenewed();
      counted.leaseRenewed?.(ms);
    },
    leaseRenewalFailed: (error) => {
      readiness.leaseRenewalFailed(error);
      counted.leaseRenewalFailed?.(error);
    },
  };
}
