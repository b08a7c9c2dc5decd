// class: app
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { certificate } from '../support/config-certificates.ts';
import { eventually, startProxied } from '../support/gateway.ts';
import { clientHello, rawClient, tlsClient } from '../support/raw-client.ts';

const options = { limits: { headTimeoutMs: 300 }, tls: certificate.a };

t.test('a TLS handshake that does not end is cut off as a head is, however it drips', async (t) => {
  const time = new ManualTime();
  const { dial, bytesRead } = await startProxied(t, { ...options, time });
  const hello = await clientHello(t);
  const clients = [await dial(''), await dial(''), await dial('')];
  clients[1]?.send(hello.subarray(0, hello.length / 2));
  let sent = 0;
  while (clients.some(({ closed }) => !closed)) {
    const read = bytesRead();
    clients[2]?.send(hello.subarray(sent, ++sent));
    await eventually(() => bytesRead() > read || clients[2]?.closed === true, 'the drip');
    await time.advance(20);
  }
  t.ok(sent < hello.length, 'before the handshake was over');
});

t.test('a connection that has shaken hands stays', async (t) => {
  const time = new ManualTime();
  const { port, requestOf } = await startProxied(t, { ...options, time });
  const client = await tlsClient(t, port, certificate.a.cert);
  for (let i = 0; i < 3; i++) {
    t.equal((await client.send(requestOf('GET', '/')).response()).status, 200);
    await time.advance(2 * options.limits.headTimeoutMs);
  }
  t.notOk(client.closed);
});

t.test('a drain does not save a handshake that another socket of the listener accepted', async (t) => {
  const time = new ManualTime();
  const { server } = await startProxied(t, { ...options, time });
  const other = createServer((socket) => server.emit('connection', socket));
  t.teardown(() => other.close());
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const accepted = once(other, 'connection');
  const client = await rawClient(t, (other.address() as AddressInfo).port);
  await accepted;
  server.close();
  await once(server, 'close');
  await time.advance(2 * options.limits.headTimeoutMs);
  await eventually(() => client.closed);
});
