/** Real Redis for tests. */
import { fromRunner, startPrivateServer, type PrivateServer, type Scope } from './servers.ts';

/**
 * An empty Redis that no other test uses, ended with the test. Returns its URL.
 *
 * It is a server of its own, since one starts in milliseconds and then a FLUSHALL or a CONFIG SET cannot disturb the
 * test file running beside this one.
 */
export async function freshRedis(t: Scope): Promise<string> {
  const server = await startRedis(t);
  return server.url;
}

/** The same, as a handle to kill, pause and restart it. `settings` are those of redis.conf. */
export function startRedis(t: Scope, settings: Record<string, string> = {}): Promise<PrivateServer> {
  return startPrivateServer(t, 'redis', { server: fromRunner('TEST_REDIS_SERVER'), settings });
}
