// class: app
/** An upstream, or a tenant that makes one say what it likes, tells clients of limits that are not theirs. */
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { OneReplicaLimiter } from '../support/one-replica-limiter.ts';
import { startRawUpstream } from '../support/upstreams.ts';

t.test("what the gateway says of a limit replaces an upstream's own word", async (t) => {
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.writeHead(200, [
      ...['RateLimit', '"api_key";r=1000000;t=1'],
      ...['ratelimit', '"api_key";r=2000000;t=1'],
      ...['RATELIMIT-POLICY', '"api_key";q=3000000;w=1'],
    ]);
    response.end();
  });
  const { call, directory, parent } = await startGateway(t, {
    routes: { '/': upstream.url },
    rateLimiter: new OneReplicaLimiter(),
  });
  directory.limitKey(parent, { requestsPerSecond: 5 });
  const { headers } = await call('GET', '/');
  t.equal(headers['ratelimit'], '"api_key";r=4;t=1');
  t.equal(headers['ratelimit-policy'], '"api_key";q=5;w=1');
});
