import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import t from 'tap';
import { drainable, type Drainable } from '../../src/server/drain.ts';
import { systemTimers } from '../../src/ports/timers.ts';
import { eventually } from '../support/eventually.ts';
import type { Scope } from '../support/servers.ts';

const long = 20_000;

t.test('idle, silent and never used connections do not hold it up', async (t) => {
  const { listener, open } = await setting(t, (_request, response) => response.end('ok'));
  const idle = await open();
  idle.socket.write(get);
  await eventually(() => idle.text.includes('ok'));
  await open();
  const began = Date.now();
  t.equal(await listener.drain(long), 0);
  t.ok(Date.now() - began < long / 2);
});

t.test('a response under way comes to its end, and says that it is the last one', async (t) => {
  const held: ServerResponse[] = [];
  const { listener, open } = await setting(t, (_request, response) => held.push(response));
  const connection = await open();
  connection.socket.write(get);
  await eventually(() => held.length === 1);
  const drained = listener.drain(long);
  held[0]?.end('late');
  t.equal(await drained, 0);
  await eventually(() => connection.socket.closed);
  t.match(connection.text, /connection: close/i);
  t.match(connection.text, 'late');
});

t.test(
  'a response whose head is out already comes to its end, and its connection is closed then',
  async (t) => {
    const held: ServerResponse[] = [];
    const { listener, open } = await setting(t, (_request, response) => {
      response.write('first ');
      held.push(response);
    });
    const connection = await open();
    connection.socket.write(get);
    await eventually(() => connection.text.includes('first'));
    const drained = listener.drain(long);
    held[0]?.end('second');
    t.equal(await drained, 0);
    t.match(connection.text, 'second');
  },
);

t.test('a request that was on its way is served, on a connection that then closes', async (t) => {
  const { listener, open } = await setting(t, (_request, response) => response.end('served'));
  const connection = await open();
  connection.socket.write(get.slice(0, 10));
  await eventually(() => connection.peer()?.bytesRead === 10);
  const drained = listener.drain(long);
  connection.socket.write(get.slice(10));
  t.equal(await drained, 0);
  await eventually(() => connection.socket.closed);
  t.match(connection.text, /connection: close/i);
  t.match(connection.text, 'served');
});

t.test(
  'what is left when the time is over is cut: upgraded connections never end by themselves',
  async (t) => {
    const { listener, open, upgrades } = await setting(t, () => undefined);
    const connection = await open();
    connection.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    await eventually(() => upgrades() === 1);
    t.equal(await listener.drain(50), 1);
    await eventually(() => connection.socket.closed);
  },
);

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

interface Connection {
  readonly socket: Socket;
  text: string;
  /** The other end of it. */
  peer(): Socket | undefined;
}

async function setting(
  t: Scope,
  serve: RequestListener,
): Promise<{ listener: Drainable; open: () => Promise<Connection>; upgrades: () => number }> {
  const server = createServer(serve);
  let upgrades = 0;
  server.on('upgrade', (_request, socket: Socket) => {
    upgrades += 1;
    socket.on('error', () => undefined);
  });
  const peers: Socket[] = [];
  server.on('connection', (socket) => peers.push(socket));
  const listener = drainable(server, systemTimers);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;

  async function open(): Promise<Connection> {
    const socket = connect(port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    socket.on('error', () => undefined);
    const before = peers.length;
    await once(socket, 'connect');
    await eventually(() => peers.length > before);
    const connection: Connection = { socket, text: '', peer: () => peers[before] };
    socket.on('data', (chunk: Buffer) => (connection.text += chunk.toString()));
    return connection;
  }

  return { listener, open, upgrades: () => upgrades };
}
