// class: pure
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import t from 'tap';
import { Intake } from '../../src/server/intake.ts';
import { connected } from '../support/text-client.ts';

t.test('a worker refuses what the cluster offers, and closes what is beyond its limit', async (t) => {
  const server = createServer((_request, response) => response.end('ok'));
  server.maxConnections = 1;
  const intake = new Intake(false);
  intake.control(server);
  t.equal(server.maxConnections, -1, 'Node hands on what comes while there are this many or more');
  intake.taking = true;
  t.equal(server.maxConnections, undefined);

  const { socket: first } = await connected(t, server);
  t.equal(await fate((await connected(t, server)).socket), 'closed');
  // As a reload does.
  server.maxConnections = 2;
  const { socket: second } = await connected(t, server);
  t.equal(await fate(second), 'served');
  t.equal(await fate(first), 'served');
});

async function fate(socket: Socket): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  return Promise.race([
    once(socket, 'data').then(() => 'served'),
    once(socket, 'close').then(() => 'closed'),
  ]);
}
