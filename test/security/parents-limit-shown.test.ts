// class: app
/** A sub-account reads off responses how much its parent uses. */
import t from 'tap';
import { startProxied } from '../support/gateway.ts';
import { OneReplicaLimiter } from '../support/one-replica-limiter.ts';

t.test("a sub-account's key is not told the figures of its parent's limit", async (t) => {
  const { call, directory, parent } = await startProxied(t, { rateLimiter: new OneReplicaLimiter() });
  const child = directory.addSubAccount(parent, 'child');
  directory.limitAccount(parent, { requestsPerSecond: 3, requestsPerMonth: 1_234 });
  for (const status of [200, 200, 200, 429]) {
    const response = await call('GET', '/', { key: child.key });
    t.equal(response.status, status);
    t.equal(response.headers['ratelimit'], undefined);
    t.equal(response.headers['ratelimit-policy'], undefined);
    // Not within an id, which may hold the same figures.
    t.notMatch(response.body, /(?<![\da-f-])1234(?![\da-f-])/);
  }
});
