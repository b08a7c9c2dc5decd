// class: app
/** What a request that waits for none of its limits meets where its tenant has too many under way. */
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { OneReplicaLimiter } from '../support/one-replica-limiter.ts';
import type { RawClient } from '../support/raw-client.ts';
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

for (const client of ['native', 'undici'] as const)
  t.test(`${client}: event streams of a tenant leave an eighth of its places to its requests`, async (t) => {
    let streams = 0;
    const upstream = await startRawUpstream(t, () => (request, response) => {
      if (request.url !== '/events') return void response.end('ok');
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).write(':\n');
      streams += 1;
      response.on('close', () => (streams -= 1));
    });
    for (const [connections, inFlightPerTenant] of [
      [16, 1_000],
      [1_000, 8],
    ] as const) {
      const { call, dial, requestOf, finished } = await startGateway(t, {
        routes: { '/': { upstream: upstream.url, connections, client } },
        limits: { inFlightPerTenant },
      });
      const clients: RawClient[] = [];
      for (let i = 0; i < 7; i++) clients.push(await dial(requestOf('GET', '/events')));
      for (const each of clients) await each.until(() => each.text.includes(':\n'));
      for (let i = 0; i < 3; i++)
        t.match(await call('GET', '/events'), { status: 429, code: 'too_many_requests' });
      await eventually(() => streams === 7, 'the end of the others at the upstream');
      t.match(finished.at(-1), { limit: 'event_streams' });
      for (let i = 0; i < 5; i++) t.equal((await call('GET', '/now')).status, 200);
      clients.shift()?.socket.destroy();
      await eventually(() => streams === 6);
      const next = await dial(requestOf('GET', '/events'));
      await next.until(() => next.text.includes(':\n'));
      for (const each of [...clients, next]) each.socket.destroy();
      await eventually(() => streams === 0);
    }
  });
