// class: app
/** The greatest age of connections, on both sides: looked at between exchanges, so that none ends by it. */
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';
import { openEnds, startWebSocketUpstream } from '../support/websockets.ts';

for (const client of ['native', 'undici'] as const)
  t.test(
    `${client}: a busy connection to an upstream is used for half to one and a half of its age`,
    async (t) => {
      const time = new ManualTime();
      const upstream = await startUpstream(t, (_request, response) => response.end('ok'));
      const { call } = await startGateway(t, {
        routes: { '/': { upstream: upstream.url, client } },
        limits: { upstreamConnectionAgeMs: 30_000 },
        time,
      });
      for (let connection = 1; connection <= 3; connection++) {
        const openedMs = time.now;
        let usedMs = 0;
        while (upstream.connections <= connection && time.now < openedMs + 60_000) {
          t.equal((await call('GET', '/')).status, 200);
          if (upstream.connections === connection) usedMs = time.now - openedMs;
          await time.advance(1_000);
        }
        t.ok(usedMs >= 14_000 && usedMs < 45_000, `${usedMs} ms`);
      }
    },
  );

for (const client of ['native', 'undici'] as const)
  t.test(`${client}: a response that takes longer than that is whole`, async (t) => {
    const time = new ManualTime();
    const responses: ServerResponse[] = [];
    const upstream = await startUpstream(t, (_request, response) => {
      responses.push(response);
      response.write('begin ');
    });
    const timeouts = { connectMs: 5_000, headersMs: 60_000, bodyMs: 0 };
    const { dial, requestOf } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, client, timeouts } },
      limits: { upstreamConnectionAgeMs: 1_000, clientConnectionAgeMs: 1_000, minBodyBytesPerMinute: 0 },
      time,
    });
    const stream = await dial(requestOf('GET', '/'));
    await stream.until(() => stream.text.includes('begin'));
    await time.advance(100_000);
    responses[0]?.end('end');
    const { headers, body } = await stream.response();
    t.equal(body, 'begin end');
    t.match(headers, { connection: 'keep-alive' }, 'it began before');
    stream.send(requestOf('GET', '/'));
    await eventually(() => responses.length === 2);
    responses[1]?.end('end');
    t.match((await stream.response()).headers, { connection: 'close' });
    t.equal(upstream.connections, 2);
  });

t.test('a WebSocket goes on', async (t) => {
  const time = new ManualTime();
  const upstream = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { upstreamConnectionAgeMs: 1_000, clientConnectionAgeMs: 1_000 },
    time,
  });
  const { client, server } = await openEnds(t, upstream, port, parent.key);
  await time.advance(9_000);
  const echoed = new Promise((resolve) => client.once('message', (data: Buffer) => resolve(data.toString())));
  server.send('still here');
  t.equal(await echoed, 'still here');
});

for (const trusted of [false, true])
  t.test(
    `a client's connection ${trusted ? 'from a trusted proxy has no age' : 'ends after 240 to 360 s'}`,
    async (t) => {
      const time = new ManualTime();
      const upstream = await startUpstream(t, (_request, response) => response.end('ok'));
      const { dial, requestOf } = await startGateway(t, {
        routes: { '/': upstream.url },
        limits: { clientConnectionAgeMs: 300_000 },
        trustedProxies: trusted ? ['127.0.0.0/8'] : [],
        time,
      });
      const client = await dial('');
      const said: string[] = [];
      // Management has the same connections.
      for (const target of ['/', '/v1/sub-accounts/none']) {
        for (let i = 0; i < 6; i++) {
          client.send(requestOf('GET', target));
          const { headers } = await client.response();
          said.push(headers['connection'] ?? '');
          if (headers['connection'] === 'close') break;
          await time.advance(39_000);
        }
        if (client.closed) break;
      }
      t.same(
        said.slice(0, 6),
        Array.from({ length: 6 }, () => 'keep-alive'),
      );
      t.equal(said.includes('close'), !trusted);
    },
  );
