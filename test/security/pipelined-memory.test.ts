// class: app
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { eventually, standstill, startGateway, type GatewayOptions } from '../support/gateway.ts';
import { rawClient, requestText, tlsClient } from '../support/raw-client.ts';
import type { Scope } from '../support/servers.ts';
import { startRawUpstream } from '../support/upstreams.ts';

/** As much as a chunk that was read, what goes on being read behind it, and TLS below that take together, and some more. */
const mostRead = 256 * 1024;

for (const tls of [undefined, certificate.a]) {
  t.test(`behind a slow request a connection is not read to its end${tls ? ', by TLS' : ''}`, async (t) => {
    const { gateway, slow, bytesRead, upstream } = await started(t, tls && { tls });
    const connect = () => (tls ? tlsClient(t, gateway.port, tls.cert) : rawClient(t, gateway.port));
    const client = await connect();
    const behind = Array.from({ length: 90 }, (_, i) => [`X-${i}`, 'x'.repeat(160)] as const);
    const authorization: [string, string] = ['Authorization', `Bearer ${gateway.parent.key}`];
    client.send(requestText('GET', '/slow', [authorization]));
    client.send(requestText('GET', '/behind', behind).repeat(998));
    await eventually(() => slow.length === 1, 'the first request');
    await standstill(bytesRead);
    t.ok(bytesRead() < mostRead, `${bytesRead()} bytes were read`);
    // The socket is written to, and says so: that must not make it read.
    slow[0]?.writeHead(200, { 'content-length': 4_000_004 }).write('x'.repeat(4_000_000));
    await client.until(() => client.text.length > 4_000_000);
    await standstill(bytesRead);
    t.ok(bytesRead() < mostRead, `${bytesRead()} bytes were read behind a response under way`);
    const other = (await connect()).send(requestText('GET', '/other', [authorization]));
    t.equal((await other.response()).status, 200, 'others are served');
    slow[0]?.end('last');
    t.equal((await client.response()).body.length, 4_000_004);
    const statuses: number[] = [];
    for (let i = 0; i < 998; i++) statuses.push((await client.response()).status);
    t.same(new Set(statuses), new Set([401]));
    t.equal(upstream.heads, 2);
  });
}

t.test('a head that came in half before reading stopped has all its time when it is its turn', async (t) => {
  const { gateway, slow } = await started(t, { limits: { headTimeoutMs: 300 } });
  const client = await rawClient(t, gateway.port);
  const authorization: [string, string] = ['Authorization', `Bearer ${gateway.parent.key}`];
  const third = requestText('GET', '/third', [authorization]);
  const many = requestText('GET', '/behind', [['X', 'x'.repeat(10_000)]]).repeat(5);
  client.send(requestText('GET', '/slow', [authorization]) + many + third.slice(0, 30));
  await eventually(() => slow.length === 1, 'the first request');
  // One that came later runs out of time.
  const late = await rawClient(t, gateway.port);
  t.equal((await late.send(third.slice(0, 30)).response()).status, 408);
  slow[0]?.end();
  client.send(third.slice(30));
  t.equal((await client.response()).status, 200);
  for (let i = 0; i < 5; i++) t.equal((await client.response()).status, 401);
  t.equal((await client.response()).status, 200);
});

t.test('a client that leaves is noticed while requests of it wait', async (t) => {
  const { gateway, slow } = await started(t);
  for (const end of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
    const client = await rawClient(t, gateway.port);
    const authorization: [string, string] = ['Authorization', `Bearer ${gateway.parent.key}`];
    client.send(requestText('GET', '/slow', [authorization]) + requestText('DELETE', '/behind').repeat(50));
    await eventually(() => slow.length === 1, 'the first request');
    end(client.socket);
    await eventually(() => slow[0]?.closed === true && gateway.finished.length === 1, 'its end');
    t.match(gateway.finished, [{ path: '/slow', code: 'client_gone' }]);
    gateway.finished.length = slow.length = 0;
  }
});

async function started(t: Scope, options: Partial<GatewayOptions> = {}) {
  const slow: ServerResponse[] = [];
  const upstream = await startRawUpstream(t, () => (request, response) => {
    if (request.url === '/slow') slow.push(response);
    else response.end();
  });
  const gateway = await startGateway(t, { routes: { '/': upstream.url }, ...options });
  const peers: Socket[] = [];
  gateway.server.on('connection', (socket: Socket) => peers.push(socket));
  return { gateway, upstream, slow, bytesRead: () => peers[0]?.bytesRead ?? 0 };
}
