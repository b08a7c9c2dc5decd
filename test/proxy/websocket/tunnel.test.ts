// class: pure
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import t from 'tap';
import { Tunnel } from '../../../src/proxy/websocket/tunnel.ts';
import { eventually } from '../../support/eventually.ts';
import type { Scope } from '../../support/servers.ts';

t.test('what waits to be sent is not sent after the end, nor is a close frame behind it', async (t) => {
  const [client, clientEnd] = await pair(t);
  const [upstream, upstreamEnd] = await pair(t);
  let over = 0;
  const tunnel = new Tunnel(client, upstream, 10_000, {
    onHeld: () => undefined,
    mayPass: () => true,
    onClosed: () => (over += 1),
    broke: (error) => t.error(error),
  });
  let received = '';
  clientEnd.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  tunnel.open(Buffer.alloc(0), Buffer.from('\x81\x03all', 'latin1'));
  await eventually(() => received.length === 5);

  client.cork();
  upstreamEnd.write('\x81\x04more', 'latin1');
  await eventually(() => client.writableLength > 0);
  tunnel.end(4403, 'access was withdrawn');
  await eventually(() => over === 1 && clientEnd.destroyed);
  t.equal(received, '\x81\x03all');
});

/** Both ends of a connection. */
async function pair(t: Scope): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const [near] = (await once(server, 'connection')) as [Socket];
  for (const socket of [near, far]) socket.on('error', () => undefined);
  t.teardown(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return [near, far];
}
