/** Real Redis for tests: a database of the run's shared server, or a private server to maltreat. */
import { Redis } from 'ioredis';
import { fromRunner, startPrivateServer, type PrivateServer, type Scope } from './servers.ts';

/** An empty database of the shared server that no other test uses, emptied when the test ends. Returns its URL. */
export async function freshRedis(t: Scope): Promise<string> {
  const shared = fromRunner('TEST_REDIS_URL');
  const number = await ask(shared, (redis) => redis.incr('databases'));
  const url = `${shared}/${number}`;
  t.teardown(() => ask(url, (redis) => redis.flushdb()));
  return url;
}

/** A client of a Redis, which goes away with the test. */
export function redisClient(t: Scope, url: string): Redis {
  const redis = new Redis(url);
  redis.on('error', () => undefined);
  t.teardown(() => redis.disconnect());
  return redis;
}

/** A server of the test's own, which it may kill, pause and flush. `settings` are those of redis.conf. */
export function startRedis(t: Scope, settings: Record<string, string> = {}): Promise<PrivateServer> {
  return startPrivateServer(t, 'redis', { server: fromRunner('TEST_REDIS_SERVER'), settings });
}

async function ask<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}
