// class: pure
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { Intake } from '../../src/server/intake.ts';

t.test('a worker refuses what the cluster offers, and closes what is beyond its limit', async (t) => {
  const server = createServer((_request, response) => response.end('ok'));
  server.maxConnections = 1;
  const intake = new Intake(false);
  intake.control(server);
  t.equal(server.maxConnections, -1, 'Node hands on what comes while there are this many or more');
  intake.taking = true;
  t.equal(server.maxConnections, undefined);

  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close().closeAllConnections());
  const first = await open(t, server);
  t.equal(await fate(await open(t, server)), 'closed');
  // As a reload does.
  server.maxConnections = 2;
  const second = await open(t, server);
  t.equal(await fate(second), 'served');
  t.equal(await fate(first), 'served');
});

async function open(t: Test, server: ReturnType<typeof createServer>) {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function fate(socket: Awaited<ReturnType<typeof open>>): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  return Promise.race([
    once(socket, 'data').then(() => 'served'),
    once(socket, 'close').then(() => 'closed'),
  ]);
}
