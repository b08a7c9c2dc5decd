// class: app
/** What a request that waits for none of its limits meets where its tenant has too many under way. */
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { OneReplicaLimiter } from '../support/one-replica-limiter.ts';
import { startRawUpstream } from '../support/upstreams.ts';

t.test('too many in flight stays too_many_requests, and takes nothing of a limit', async (t) => {
  const upstream = await startRawUpstream(t, () => () => undefined);
  const rateLimiter = new OneReplicaLimiter();
  const { call, directory, parent, dial, requestOf } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { inFlightPerTenant: 1 },
    rateLimiter,
  });
  directory.limitKey(parent, { requestsPerSecond: 5 });
  await dial(requestOf('GET', '/'));
  await eventually(() => rateLimiter.taken === 1, 'the first request');
  const full = await call('GET', '/');
  t.equal(full.status, 429);
  t.match(full.json(), { code: 'too_many_requests', limited: undefined });
  t.same([full.headers['ratelimit-policy'], full.headers['ratelimit']], [undefined, undefined]);
  t.equal(rateLimiter.taken, 1);
});
