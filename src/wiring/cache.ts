import { redisFactCache, type RedisFactCacheOptions } from '../adapters/redis/fact-cache.ts';
import { noFactCache } from '../coherence/no-fact-cache.ts';
import { readMacKeys } from '../config/redis/mac-keys.ts';
import { parseRedisAddress } from '../config/redis/redis-address.ts';
import type { Config } from '../config.ts';
import type { FactCache } from '../ports/fact-cache.ts';

type CacheParts = Pick<RedisFactCacheOptions, 'clock' | 'timers' | 'onBreakerState'>;

/** How long Redis keeps a value that is not read again. */
const ttlMs = 3_600_000;

/** The shared cache, or one that has nothing where there is no Redis. It is connected to behind the scenes. */
export function openCache(
  { redisUrl, redisMacKeyFile }: Pick<Config, 'redisUrl' | 'redisMacKeyFile'>,
  parts: CacheParts,
): FactCache & { close(): Promise<void> } {
  if (redisUrl === null) return { ...noFactCache, close: async () => undefined };
  const address = parseRedisAddress(redisUrl);
  if (address === undefined) throw new Error('redis.url is not the address of a Redis');
  const macKeys = redisMacKeyFile === null ? [] : readMacKeys(redisMacKeyFile);
  return redisFactCache({ ...parts, address, macKeys, ttlMs });
}
