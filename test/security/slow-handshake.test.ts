// class: app
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { startGateway } from '../support/gateway.ts';
import { rawClient, requestText, tlsClient } from '../support/raw-client.ts';
import type { Scope } from '../support/servers.ts';
import { startUpstream } from '../support/upstreams.ts';

const headTimeoutMs = 300;

t.test('a TLS handshake that does not end is cut off as a head is, however it drips', async (t) => {
  const { port } = await startGateway(t, { routes: {}, limits: { headTimeoutMs }, tls: certificate.a });
  const hello = await clientHello(t);
  const silent = await rawClient(t, port);
  const half = await rawClient(t, port);
  half.send(hello.subarray(0, hello.length / 2));
  const dripping = await rawClient(t, port);
  let sent = 0;
  const drips = setInterval(() => dripping.send(hello.subarray(sent, ++sent)), 20);
  t.teardown(() => clearInterval(drips));
  await Promise.all([silent.end(), half.end(), dripping.end()]);
  t.ok(sent < hello.length, 'before the handshake was over');
});

t.test('a connection that has shaken hands stays', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { headTimeoutMs },
    tls: certificate.a,
  });
  const client = await tlsClient(t, port, certificate.a.cert);
  for (let i = 0; i < 2; i++) {
    client.send(requestText('GET', '/', [['Authorization', `Bearer ${parent.key}`]]));
    t.equal((await client.response()).status, 200);
    // Nothing is waited for: this is longer than a handshake may take.
    await sleep(2 * headTimeoutMs);
  }
  t.notOk(client.closed);
});

/** The first bytes of a client that speaks TLS. */
async function clientHello(t: Scope): Promise<Buffer> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connectTls((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  t.teardown(() => (client.destroy(), server.close()));
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  return hello;
}
