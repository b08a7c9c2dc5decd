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

/** What the cache works with. */
export interface RedisFactCacheOptions extends RedisEvents {
  readonly address: RedisAddress;
  /** How long a fact stays in Redis. Longer than the coherence log is no use: its stamp would be too old. */
  readonly ttlMs: number;
  /** Keys that values are authenticated by, see {@link sealFor}; none: they are not. */
  readonly macKeys: readonly Buffer[];
  /** Of the database that facts come from, see `databasePlace`. */
  readonly place: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly onBreakerState?: (state: BreakerState) => void;
}

/** Longest wait for Redis; after that PostgreSQL is asked. */
const timeoutMs = 50;

/**
 * Facts in Redis. They may be too old, so the reader checks their stamps; while Redis cannot be reached, no fact is found.
 * Of the errors of ioredis only the code is told, since they hold the arguments of commands.
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
    close: async () => client.disconnect(),
  };
}

/** A client and what watches over it. */
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
  // Single GETs, since a cluster has no MGET across slots; those of one tick travel together all the same.
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
  // Only a read tries whether Redis is back, since a read has a time limit.
  if (redis.breaker.state !== 'closed') return;
  void guarded(redis, () =>
    Promise.all(
      [...facts].map(([key, fact]) => {
        // Holds a digest or an id, never an API key.
        const name = seal.prefix + key;
        return redis.client.set(name, seal.close(name, encodeFact(fact)), 'PX', ttlMs);
      }),
    ),
  );
}

async function guarded<T>(
  { client, breaker, trouble }: Watched,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  // Not connected: no request waits to find that out, so it is no failure for the breaker to count.
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
