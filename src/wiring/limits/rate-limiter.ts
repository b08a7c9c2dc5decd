import { redisShareBoard } from '../../adapters/redis/share-board.ts';
import type { CoherenceSnapshot } from '../../coherence/coherence.ts';
import { parseRedisAddress } from '../../config/redis/redis-address.ts';
import type { Config } from '../../config.ts';
import { SharedRateLimiter } from '../../limits/rate/limiter.ts';
import { limiterMetrics } from '../../ops/limiter-metrics.ts';
import type { Logger } from '../../ops/logger.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ShareBoard } from '../../ports/limits/share-board.ts';
import type { RateLimiter } from '../../ports/limits/rate-limiter.ts';
import type { Timers } from '../../ports/timers.ts';
import type { Registry } from 'prom-client';
import type { Store } from '../store.ts';

interface LimiterParts {
  readonly config: Pick<Config, 'store' | 'redisUrl'>;
  readonly store: Pick<Store, 'shareBoard' | 'monthTotals'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly randomId: () => string;
  /** This replica and the others; `null` before the store is reached. */
  readonly snapshot: () => CoherenceSnapshot | null;
}

/** Limiter that starts after the store and stops before it. */
export interface OpenLimiter extends RateLimiter {
  start(): void;
  /** Tells the limiter that the limits of an account, or of any if `null`, may have changed. */
  changed(id: string | null): void;
  stop(): Promise<void>;
}

/** Opens limits over all replicas. Replicas exchange reports through Redis, or through PostgreSQL without Redis. */
export function openLimiter(parts: LimiterParts): OpenLimiter {
  const { config, store, clock, timers, logger, registry, randomId, snapshot } = parts;
  const redis = config.redisUrl === null ? null : openBoard(config.redisUrl, timers);
  // An embedded store has only this process, so there are no other replicas.
  const board: ShareBoard | null = config.store.kind === 'embedded' ? null : (redis ?? store.shareBoard);
  const events = limiterMetrics(registry, () => limiter, logger);
  const unregistered = randomId();
  const limiter = new SharedRateLimiter({
    ...{ board, totals: store.monthTotals, clock, timers, randomId, events },
    replicas: () => namesOf(snapshot()),
    replicaId: () => snapshot()?.replica ?? unregistered,
  });
  return {
    take: (by) => limiter.take(by),
    look: (by) => limiter.look(by),
    start: () => limiter.start(),
    changed: (id) => limiter.changed(id),
    stop: async () => {
      await limiter.stop();
      redis?.close();
    },
  };
}

function openBoard(url: string, timers: Timers): ReturnType<typeof redisShareBoard> {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new Error('redis.url is not the address of a Redis');
  return redisShareBoard({ address, timers });
}

function namesOf(snapshot: CoherenceSnapshot | null): ReadonlySet<string> | null {
  if (snapshot === null || snapshot.replicas.length === 0) return null;
  return new Set([snapshot.replica, ...snapshot.replicas.map(({ id }) => id)]);
}
