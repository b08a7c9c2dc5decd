/** What `docs/private-parts.md` lists for connections to the listeners is there, and does what it says: one test for each. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { eventually } from '../support/eventually.ts';
import { tlsClient } from '../support/raw-client.ts';
import { connected, listening } from '../support/text-client.ts';

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

t.test(
  'Node: socket.parser.onIncoming is asked about each head, and reading ends behind one for which it says 2',
  async (t) => {
    const server = createServer();
    const asked: unknown[] = [];
    // After Node's own listener, which has made the parser.
    server.on('connection', (socket: Parsing) => {
      const { parser } = socket;
      const { onIncoming } = parser;
      parser.onIncoming = (request, keepAlive) => {
        asked.push([request.url, keepAlive]);
        const answer = onIncoming(request, keepAlive);
        return request.upgrade === true ? 2 : answer;
      };
    });
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.end(`unread: ${request.readableLength}, behind the head: ${head.toString()}`);
    });
    const client = await connected(t, server);
    const offer = 'Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 4\r\n\r\nbody';
    client.socket.write(get.replace('GET', 'POST').replace('\r\n\r\n', `\r\n${offer}`));
    await eventually(() => client.text === 'unread: 0, behind the head: body');
    t.same(asked, [['/', true]]);
  },
);

t.test(
  'Node: a request that says `upgrade` and is answered by 2 comes as an upgrade, its body unread',
  async (t) => {
    const server = createServer();
    server.on('connection', ({ parser }: Parsing) => {
      parser.onIncoming = (request) => {
        Object.assign(request, { upgrade: true });
        return 2;
      };
    });
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.end(`${request.url}, behind the head: ${head.toString()}`);
    });
    const client = await connected(t, server);
    const body = 'Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n';
    client.socket.write(get.replace('GET', 'POST').replace('\r\n\r\n', `\r\n${body}`));
    await eventually(() => client.text === '/, behind the head: 4\r\nbody\r\n0\r\n\r\n');
  },
);

t.test('Node: an empty push lets a connection be read again that its parser had paused', async (t) => {
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    held.push(response);
    if (request.url === '/long') response.end('x'.repeat(1_000_000));
  });
  const upgraded = once(server, 'upgrade') as Promise<[IncomingMessage, Socket]>;
  const client = await connected(t, server);
  client.socket.write(get.replace('/', '/held') + get.replace('/', '/long'));
  await eventually(() => held.length === 2);
  // So much waits for the first response that Node pauses at the next request, with an upgrade in the same packet.
  const offer = get.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  client.socket.write(get + offer);
  const [, socket] = await upgraded;
  let read = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => (read += chunk.toString()));
  socket.push(Buffer.alloc(0));
  socket.resume();
  client.socket.write('more');
  await eventually(() => read === 'more');
});

t.test('Node: socket._parent of a TLS connection is the socket below, which can be reset', async (t) => {
  const server = createTlsServer(certificate.a);
  const [below, secure] = [once(server, 'connection'), once(server, 'secureConnection')];
  const { port } = await listening(t, server);
  const client = await tlsClient(t, port, certificate.a.cert);
  const broken = once(client.socket, 'error') as Promise<[NodeJS.ErrnoException]>;
  const [socket] = (await secure) as [TLSSocket & { readonly _parent?: Socket | null }];
  socket.on('error', () => undefined);
  t.equal(socket._parent, ((await below) as [Socket])[0]);
  socket._parent?.resetAndDestroy();
  t.equal((await broken)[0].code, 'ECONNRESET');
});

/** A connection that Node's parser reads from. */
interface Parsing extends Socket {
  readonly parser: { onIncoming: (request: IncomingMessage, keepAlive: boolean) => number };
}

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
