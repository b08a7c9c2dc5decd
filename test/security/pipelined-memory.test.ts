// class: app
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { certificate } from '../support/config-certificates.ts';
import { eventually, standstill, startGateway, type GatewayOptions } from '../support/gateway.ts';
import { rawClient, requestText, tlsClient } from '../support/raw-client.ts';
import type { Scope } from '../support/servers.ts';
import { startRawUpstream } from '../support/upstreams.ts';

/** As much as a chunk that was read, what goes on being read behind it, and TLS below that take together, and some more. */
const mostRead = 256 * 1024;

for (const tls of [undefined, certificate.a]) {
  t.test(`behind a slow request a connection is not read to its end${tls ? ', by TLS' : ''}`, async (t) => {
    const { port, requestOf, slow, bytesRead, upstream } = await started(t, tls && { tls });
    const connect = () => (tls ? tlsClient(t, port, tls.cert) : rawClient(t, port));
    const client = await connect();
    const behind = Array.from({ length: 90 }, (_, i) => [`X-${i}`, 'x'.repeat(160)] as const);
    client.send(requestOf('GET', '/slow'));
    client.send(requestText('GET', '/behind', behind).repeat(998));
    await eventually(() => slow.length === 1, 'the first request');
    await standstill(bytesRead);
    t.ok(bytesRead() < mostRead, `${bytesRead()} bytes were read`);
    // The socket is written to, and says so: that must not make it read.
    slow[0]?.writeHead(200, { 'content-length': 4_000_004 }).write('x'.repeat(4_000_000));
    await client.until(() => client.text.length > 4_000_000);
    await standstill(bytesRead);
    t.ok(bytesRead() < mostRead, `${bytesRead()} bytes were read behind a response under way`);
    const other = (await connect()).send(requestOf('GET', '/other'));
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
  const time = new ManualTime();
  const { dial, requestOf, slow } = await started(t, { limits: { headTimeoutMs: 300 }, time });
  const third = requestOf('GET', '/third');
  const many = requestText('GET', '/behind', [['X', 'x'.repeat(10_000)]]).repeat(5);
  const client = await dial(requestOf('GET', '/slow') + many + third.slice(0, 30));
  await eventually(() => slow.length === 1, 'the first request');
  // One that came later runs out of time.
  const late = await dial(third.slice(0, 30));
  t.equal((await time.until(late.response())).status, 408);
  slow[0]?.end();
  client.send(third.slice(30));
  const statuses: number[] = [];
  for (let i = 0; i < 7; i++) statuses.push((await client.response()).status);
  t.same(statuses, [200, 401, 401, 401, 401, 401, 200]);
});

async function started(t: Scope, options: Partial<GatewayOptions> = {}) {
  const slow: ServerResponse[] = [];
  const upstream = await startRawUpstream(t, () => (request, response) => {
    if (request.url === '/slow') slow.push(response);
    else response.end();
  });
  return { ...(await startGateway(t, { routes: { '/': upstream.url }, ...options })), upstream, slow };
}
