import { databasePlace } from '../adapters/redis/database-place.ts';
import type { RedisFactCacheOptions } from '../adapters/redis/fact-cache.ts';
import { noFactCache } from '../coherence/no-fact-cache.ts';
import { readMacKeys } from '../config/redis/mac-keys.ts';
import { parseRedisAddress } from '../config/redis/redis-address.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../ops/logger.ts';
import { gauge } from '../ops/metrics.ts';
import type { FactCache } from '../ports/fact-cache.ts';
import type { Registry } from 'prom-client';

interface CacheParts extends Pick<RedisFactCacheOptions, 'clock' | 'timers' | 'onBreakerState'> {
  readonly logger: Logger;
  readonly registry: Registry;
}

/**
 * Milliseconds after which a value in Redis expires. The name of a value may contain an `external_id`, which must be gone
 * within an hour after the account is deleted.
 */
const ttlMs = 3_000_000;

/** The shared cache of a process. */
export interface OpenCache extends FactCache {
  /** Returns whether Redis can be used; `off` if none is configured. */
  state(): 'up' | 'down' | 'off';
  close(): Promise<void>;
}

/** Opens the shared cache, which connects in the background. Without Redis the cache stays empty. */
export async function openCache(
  { redis, store }: Pick<Config, 'redis' | 'store'>,
  { logger, registry, ...parts }: CacheParts,
): Promise<OpenCache> {
  if (redis.url === null) return { ...noFactCache, state: () => 'off', close: async () => undefined };
  const address = parseRedisAddress(redis.url);
  if (address === undefined) throw new Error('redis.url is not the address of a Redis');
  // The import is dynamic, because a process without Redis has no use for the client, which takes megabytes of memory.
  const { redisFactCache } = await import('../adapters/redis/fact-cache.ts');
  const macKeys = redis.macKeyFile === null ? [] : readMacKeys(redis.macKeyFile);
  let isConnected = false;
  let troubled = false;
  let isBroken = false;
  gauge(
    registry,
    'shared_cache_connected',
    '1 while Redis is connected; absent without Redis.',
    () => Number(isConnected),
    'min',
  );
  const cache = redisFactCache({
    ...parts,
    address,
    macKeys,
    place: databasePlace(store.kind === 'postgres' ? store.url : null),
    ttlMs,
    onBreakerState: (state) => {
      isBroken = state === 'open';
      parts.onBreakerState?.(state);
    },
    onConnected: (connected) => {
      isConnected = connected;
      if (!connected || !troubled) return;
      troubled = false;
      logger.info('Redis can be used again');
    },
    onTrouble: (code) => {
      troubled = true;
      logger.warn({ code }, 'Redis cannot be used: facts come from PostgreSQL');
    },
  });
  return { ...cache, state: () => (isConnected && !isBroken ? 'up' : 'down') };
}
