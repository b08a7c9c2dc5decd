import { redisFactCache, type RedisFactCacheOptions } from '../adapters/redis/fact-cache.ts';
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

/** How long Redis keeps a value that is not read again. */
const ttlMs = 3_600_000;

/** The shared cache, or one that has nothing where there is no Redis. It is connected to behind the scenes. */
export function openCache(
  { redisUrl, redisMacKeyFile }: Pick<Config, 'redisUrl' | 'redisMacKeyFile'>,
  { logger, registry, ...parts }: CacheParts,
): FactCache & { close(): Promise<void> } {
  if (redisUrl === null) return { ...noFactCache, close: async () => undefined };
  const address = parseRedisAddress(redisUrl);
  if (address === undefined) throw new Error('redis.url is not the address of a Redis');
  const macKeys = redisMacKeyFile === null ? [] : readMacKeys(redisMacKeyFile);
  let isConnected = false;
  let troubled = false;
  gauge(
    registry,
    'shared_cache_connected',
    '1 while Redis can be asked; absent where there is none.',
    () => Number(isConnected),
    'min',
  );
  return redisFactCache({
    ...parts,
    address,
    macKeys,
    ttlMs,
    onConnected: (connected) => {
      isConnected = connected;
      if (!connected || !troubled) return;
      troubled = false;
      logger.info('Redis is there again');
    },
    onTrouble: (code) => {
      troubled = true;
      logger.warn({ code }, 'Redis cannot be used: facts come from PostgreSQL');
    },
  });
}
