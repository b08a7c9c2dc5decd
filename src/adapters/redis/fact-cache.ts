import type { RedisAddress } from '../../config/redis/redis-address.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FactCache, StampedFact } from '../../ports/fact-cache.ts';
import type { FactKey } from '../../ports/facts.ts';
import type { Timers } from '../../ports/timers.ts';
import { Breaker, type BreakerState } from './breaker.ts';
import { redisClient, type RedisClient } from './client.ts';
import { watchReachability, type RedisEvents } from './reachability.ts';
import { sealFor, type Seal } from './seal.ts';
import { decodeFact, encodeFact } from './stamped-json.ts';

/** Options of {@link redisFactCache}. */
export interface RedisFactCacheOptions extends RedisEvents {
  readonly address: RedisAddress;
  /**
   * Time to live of a fact in Redis, in milliseconds. It should not exceed the period that the coherence log covers,
   * because facts whose stamp is older than the log are not used.
   */
  readonly ttlMs: number;
  /** MAC keys that authenticate values (see {@link sealFor}); if empty, values are not authenticated. */
  readonly macKeys: readonly Buffer[];
  /** Result of `databasePlace` for the database that the facts come from. */
  readonly place: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly onBreakerState?: (state: BreakerState) => void;
}

/** Maximum time to wait for Redis, in milliseconds. After that, the facts are read from PostgreSQL. */
const timeoutMs = 50;

/**
 * Returns a cache of facts in Redis. Cached facts may be stale, so callers must check their stamps. While Redis is
 * unreachable, `get` finds nothing. Only the code of an ioredis error is reported, because the error object contains
 * the command's arguments.
 */
export function redisFactCache(options: RedisFactCacheOptions): FactCache & { close(): Promise<void> } {
  const client = redisClient(options.address);
  const seal = sealFor(options.macKeys, options.place);
  const trouble = watchReachability(client, options);
  client.connect().catch(() => undefined);
  const breaker = new Breaker(options.clock, options.onBreakerState);
  const redis = { client, breaker, trouble };
  return {
    get: (keys) => readFacts(redis, seal, options.timers, keys),
    set: (facts) => writeFacts(redis, seal, options.ttlMs, facts),
    forget: (keys) => removeFacts(redis, seal, keys),
    close: async () => client.disconnect(),
  };
}

/** A Redis client, the breaker that its commands go through, and the listener for their errors. */
interface Watched {
  readonly client: RedisClient;
  readonly breaker: Breaker;
  readonly trouble: (error: unknown) => void;
}

async function readFacts(
  redis: Watched,
  seal: Seal,
  timers: Timers,
  keys: readonly FactKey[],
): Promise<ReadonlyMap<FactKey, StampedFact>> {
  const found = new Map<FactKey, StampedFact>();
  // Each fact is read with its own GET, because a cluster has no MGET across slots. ioredis still sends all the GETs of
  // one tick together.
  const texts = await guarded(redis, () =>
    inTime(timers, Promise.all(keys.map((key) => redis.client.get(seal.prefix + key)))),
  );
  texts?.forEach((stored, i) => {
    const key = keys[i];
    if (key === undefined || stored === null) return;
    const text = seal.open(seal.prefix + key, stored);
    const fact = text === undefined ? undefined : decodeFact(key, text);
    if (fact !== undefined) found.set(key, fact);
  });
  return found;
}

function writeFacts(
  redis: Watched,
  seal: Seal,
  ttlMs: number,
  facts: ReadonlyMap<FactKey, StampedFact>,
): void {
  // Only reads may probe whether Redis is back, because only reads have a time limit.
  if (redis.breaker.state !== 'closed') return;
  void guarded(redis, () =>
    Promise.all(
      [...facts].map(([key, fact]) => {
        // The name of a fact contains a digest, an id or an external_id, but never an API key.
        const name = seal.prefix + key;
        return redis.client.set(name, seal.close(name, encodeFact(fact)), 'PX', ttlMs);
      }),
    ),
  );
}

function removeFacts(redis: Watched, seal: Seal, keys: readonly FactKey[]): void {
  if (redis.breaker.state !== 'closed') return;
  void guarded(redis, () => Promise.all(keys.map((key) => redis.client.unlink(seal.prefix + key))));
}

async function guarded<T>(
  { client, breaker, trouble }: Watched,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  // While Redis is not connected, no command is sent, so the breaker counts no failure.
  if (client.status !== 'ready' || !breaker.allows()) return undefined;
  try {
    const result = await ask();
    breaker.succeeded();
    return result;
  } catch (error) {
    breaker.failed();
    trouble(error);
    return undefined;
  }
}

function inTime<T>(timers: Timers, reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = timers.after(timeoutMs, () => reject(new Error('Redis is too slow')));
    reply.then(resolve, reject).finally(cancel);
  });
}
