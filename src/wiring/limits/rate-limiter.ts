import { embeddedBuckets } from '../../adapters/embedded/buckets.ts';
import type { RedisBuckets } from '../../adapters/redis/buckets.ts';
import type { CoherenceSnapshot } from '../../coherence/coherence.ts';
import { parseRedisAddress } from '../../config/redis/redis-address.ts';
import type { Config } from '../../config.ts';
import { SharedRateLimiter } from '../../limits/rate/limiter.ts';
import { patienceWith } from '../../limits/rate/questions.ts';
import { limiterMetrics } from '../../ops/limiter-metrics.ts';
import type { Logger } from '../../ops/logger.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RateLimiter } from '../../ports/limits/rate-limiter.ts';
import type { Timers } from '../../ports/timers.ts';
import type { Registry } from 'prom-client';
import type { Patience } from '../patience.ts';
import type { Store } from '../store.ts';

interface LimiterParts {
  readonly config: Pick<Config, 'store' | 'redis' | 'limits'>;
  readonly store: Pick<Store, 'buckets' | 'quotas'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly randomId: () => string;
  readonly patience: Patience;
  /** Returns the known replicas, including this one; `null` before the store is reached. */
  readonly snapshot: () => CoherenceSnapshot | null;
}

/** A limiter that starts after the store and stops before it. */
export interface OpenLimiter extends RateLimiter {
  start(): void;
  stop(): Promise<void>;
}

/**
 * Opens the limiter, which counts across all replicas. Its buckets are in Redis if Redis is configured, otherwise in
 * the database. With the embedded store, the buckets are in this process's memory.
 */
export async function openLimiter(parts: LimiterParts): Promise<OpenLimiter> {
  const { config, store, clock, timers, logger, registry, randomId, patience, snapshot } = parts;
  // Only this process can use an embedded store, so the buckets need not be shared.
  const isShared = config.store.kind !== 'embedded';
  const history = () => snapshot()?.incarnation ?? null;
  const redis = isShared && config.redis.url !== null ? await openRedis(config.redis.url, history) : null;
  const buckets = isShared ? (redis ?? store.buckets) : embeddedBuckets(clock);
  const events = limiterMetrics(registry, () => limiter, logger);
  const limiter = new SharedRateLimiter({
    ...{ buckets, quotas: store.quotas(randomId()), clock, timers, events },
    patience: patience.limiter ?? patienceWith(config.limits.answerMs),
    replicas: () => (isShared ? replicasOf(snapshot()) : 1),
  });
  return {
    take: (by, later) => limiter.take(by, later),
    look: (by) => limiter.look(by),
    start: () => limiter.start(),
    stop: async () => {
      await limiter.stop();
      redis?.close();
    },
  };
}

async function openRedis(url: string, history: () => string | null): Promise<RedisBuckets> {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new Error('redis.url is not the address of a Redis');
  // The import is dynamic for the same reason as the cache's.
  const { redisBuckets } = await import('../../adapters/redis/buckets.ts');
  return redisBuckets({ address, history });
}

/** Returns the number of running replicas, including this one; `null` while it is unknown. */
function replicasOf(snapshot: CoherenceSnapshot | null): number | null {
  if (snapshot === null || snapshot.replicas.length === 0) return null;
  return new Set([snapshot.replica, ...snapshot.replicas.map(({ id }) => id)]).size;
}
