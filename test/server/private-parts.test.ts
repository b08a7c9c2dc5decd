/** What `docs/private-parts.md` lists for the drain is there, and does what it says: one test for each. */
import { createServer } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { connected } from '../support/text-client.ts';

t.test('Node: closeIdleConnections() closes by destroy(), and only what carries no request', async (t) => {
  const server = createServer((request, response) => void (request.url === '/' && response.end('done')));
  const peers: Socket[] = [];
  server.on('connection', (socket) => peers.push(socket));
  const [idle, begun, busy] = [
    await connected(t, server),
    await connected(t, server),
    await connected(t, server),
  ];
  for (const client of [idle, begun]) {
    client.socket.write(get);
    await eventually(() => client.text.includes('done'));
  }
  begun.socket.write(get.slice(0, 5));
  busy.socket.write(get.replace('/', '/held'));
  await eventually(() => peers[1]?.bytesRead === get.length + 5 && peers[2]?.bytesRead === get.length + 4);
  const listed: number[] = [];
  for (const [n, peer] of peers.entries())
    peer.destroy = () => {
      listed.push(n);
      return peer;
    };
  server.closeIdleConnections();
  for (const peer of peers) Reflect.deleteProperty(peer, 'destroy');
  t.same(listed, [0]);
});

t.test('Node: the close of net.Server leaves the idle connections of an HTTP server open', async (t) => {
  const server = createServer((_request, response) => response.end('done'));
  const client = await connected(t, server);
  client.socket.write(get);
  await eventually(() => client.text.includes('done'));
  NetServer.prototype.close.call(server);
  client.text = '';
  client.socket.write(get);
  await eventually(() => client.text.includes('done'));
  t.notOk(server.listening);
});

t.test('Node: after the last response of a connection destroySoon() is called', async (t) => {
  const server = createServer((request, response) => {
    request.socket.destroySoon = () => request.socket.end('more');
    response.shouldKeepAlive = false;
    response.end('last');
  });
  const client = await connected(t, server);
  client.socket.write(get);
  await eventually(() => client.socket.closed);
  t.match(client.text, /last[^]*more$/);
});

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

t.test(
  'Node: its listener for connections, called once more, reads requests again after an upgrade',
  async (t) => {
    const server = createServer((request, response) => response.end(`read ${request.url}`));
    const [readRequests] = server.listeners('connection');
    server.on('upgrade', (_request, socket: Socket, head: Buffer) => {
      socket.unshift(Buffer.concat([Buffer.from(get.replace('/', '/again')), head]));
      readRequests?.call(server, socket);
      socket.resume();
    });
    const client = await connected(t, server);
    client.socket.write(get.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'));
    await eventually(() => client.text.includes('read /again'));
    client.socket.write(get.replace('/', '/behind'));
    await eventually(() => client.text.includes('read /behind'));
  },
);
