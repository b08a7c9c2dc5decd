/** The cache of facts over a real Redis. */
import { redisFactCache, type RedisFactCacheOptions } from '../../src/adapters/redis/fact-cache.ts';
import { parseRedisAddress } from '../../src/config/redis/redis-address.ts';
import { systemClock } from '../../src/ports/clock.ts';
import type { FactCache } from '../../src/ports/fact-cache.ts';
import { systemTimers, type Timers } from '../../src/ports/timers.ts';
import { eventually } from './eventually.ts';
import type { Scope } from './servers.ts';

/** Closed when the test ends. It waits a hundred times as long as in service: a busy machine may take a second. */
export function openFactCache(t: Scope, url: string, options: Partial<RedisFactCacheOptions> = {}) {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new Error(url);
  const timers: Timers = { after: (ms, task) => systemTimers.after(100 * ms, task) };
  const usual = { address, macKeys: [], place: 'p', ttlMs: 60_000, clock: systemClock, timers };
  const cache = redisFactCache({ ...usual, ...options });
  t.teardown(() => cache.close());
  return cache;
}

/** Resolves once what is written can be read: the connection is made behind the scenes. */
export function connected(cache: FactCache): Promise<void> {
  return eventually(async () => {
    cache.set(new Map([['n:probe', { value: 1, seq: 0, incarnation: 'probe' }]]));
    return (await cache.get(['n:probe'])).size === 1;
  });
}
