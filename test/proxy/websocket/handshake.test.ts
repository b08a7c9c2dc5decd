// class: app
import { createServer } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { WebSocketServer } from 'ws';
import { ManualTime } from '../../support/coherence/manual-time.ts';
import { eventually, startGateway, startProxied } from '../../support/gateway.ts';
import { rawClient, requestText } from '../../support/raw-client.ts';
import { startTcpUpstream, startUpstream } from '../../support/upstreams.ts';
import {
  bearer,
  consent,
  handshake,
  openWebSocket,
  startWebSocketUpstream,
} from '../../support/websockets.ts';

t.test('the upstream chooses the subprotocol', async (t) => {
  for (const [choice, outcome] of [
    ['v2', 'v2'],
    ['v1', 'v1'],
    [false, ''],
  ] as const) {
    const upstream = await startWebSocketUpstream(t, undefined, { handleProtocols: () => choice });
    const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
    const opening = openWebSocket(t, port, '/', bearer(parent.key), ['v1', 'v2']);
    if (outcome === '') {
      await t.rejects(
        opening,
        { message: /no subprotocol/i },
        'the client is told that none of its own was chosen',
      );
    } else {
      t.equal((await opening).socket.protocol, outcome);
    }
    await eventually(() => upstream.handshakes.length === 1, 'the handshake');
    t.equal(upstream.handshakes[0]?.headers['sec-websocket-protocol'], 'v1,v2');
  }
});

t.test('compression is agreed between the two ends, or not at all', async (t) => {
  for (const [atUpstream, atClient, agreed] of [
    [true, true, 'permessage-deflate'],
    [true, false, ''],
    [false, true, ''],
  ] as const) {
    const upstream = await startWebSocketUpstream(t, undefined, { perMessageDeflate: atUpstream });
    const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
    const options = { perMessageDeflate: atClient };
    const client = await openWebSocket(t, port, '/', bearer(parent.key), [], options);
    t.equal(client.socket.extensions, agreed);
    client.socket.send('x'.repeat(5000));
    await eventually(() => client.messages.length === 1, 'the echo');
    t.equal(client.messages[0], 'x'.repeat(5000));
  }
});

t.test('an upstream that is down, breaks off or says nothing is 502 or 504', async (t) => {
  const closing = await startTcpUpstream(t, (socket) => socket.end());
  const reset = await startTcpUpstream(t, (socket) => socket.resetAndDestroy());
  const nonsense = await startTcpUpstream(t, (socket) => socket.end('SSH-2.0-x\r\n\r\n'));
  const silent = await startTcpUpstream(t, () => undefined);
  const time = new ManualTime();
  const { port, parent, finished } = await startGateway(t, {
    routes: {
      '/down': 'http://127.0.0.1:1',
      '/closing': closing.url,
      '/reset': reset.url,
      '/nonsense': nonsense.url,
      '/silent': silent.url,
    },
    time,
  });
  for (const [path, status] of [
    ['/down', 502],
    ['/closing', 502],
    ['/reset', 502],
    ['/nonsense', 502],
    ['/silent', 504],
  ] as const) {
    const opening = openWebSocket(t, port, path, bearer(parent.key));
    const opened = path === '/silent' ? time.until(opening) : opening;
    await t.rejects(opened, { message: `status ${status}` }, path);
  }
  t.match(
    finished.map(({ status, code }) => [status, code]),
    [...Array.from({ length: 4 }, () => [502, 'upstream_unreachable']), [504, 'upstream_timeout']],
  );
});

t.test('an upstream that does not know upgrades responds as to any other request', async (t) => {
  const { upstream, port, parent } = await startProxied(t);
  await t.rejects(openWebSocket(t, port, '/x', bearer(parent.key)), { message: 'status 200' });
  t.equal(upstream.received[0]?.target, '/x');
});

t.test('a handshake whose Host is empty names the upstream to it (RFC 9112 §3.2)', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  const offer = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  client.send(`GET / HTTP/1.1\r\nHost:\r\nAuthorization: Bearer ${parent.key}\r\n${offer}\r\n${key}\r\n\r\n`);
  await eventually(() => upstream.handshakes.length === 1, 'the handshake');
  t.equal(upstream.handshakes[0]?.headers.host, new URL(upstream.url).host);
});

t.test('WebSockets reach an upstream on a Unix socket, and one with its own Host', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'upstream-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const server = createServer();
  const hosts: (string | undefined)[] = [];
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, { headers }) => {
    hosts.push(headers.host);
    socket.on('message', (data) => socket.send(data));
  });
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  const path = join(folder, 'socket');
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const other = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, {
    routes: { '/unix': `unix:${path}`, '/named': { upstream: other.url, host: 'upstream' } },
  });
  for (const path of ['/unix', '/named']) {
    const client = await openWebSocket(t, port, path, bearer(parent.key));
    client.socket.send('hello');
    await eventually(() => client.messages.includes('hello'), 'the echo');
  }
  t.same(hosts, [`127.0.0.1:${port}`]);
  t.equal(other.handshakes[0]?.headers.host, new URL(other.url).host);
});

t.test('frames that come before the consent go on after it, and later ones too', async (t) => {
  let agree: () => void = () => undefined;
  let received = '';
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    agree = () => void socket.write(consent);
  });
  const { parent, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(`${requestText('GET', '/', handshake(parent.key))}first `);
  await eventually(() => upstream.heads === 1, 'the handshake');
  client.send('second ');
  agree();
  await client.until(() => client.text.endsWith('\r\n\r\n'));
  client.send('third');
  await eventually(() => received.endsWith('first second third'), 'the frames');
});

t.test('a WebSocket opens behind a request whose body came in the same packet', async (t) => {
  const plain = await startUpstream(t);
  let received = '';
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.write(consent);
  });
  const { port, parent, requestOf } = await startGateway(t, {
    routes: { '/': upstream.url, '/plain': plain.url },
  });
  const client = await rawClient(t, port);
  // More than Node reads of a body before it is asked for.
  const first = requestOf('PUT', '/plain', [], 'x'.repeat(60_000));
  client.send(`${first}${requestText('GET', '/', handshake(parent.key))}early `);
  t.equal((await client.response('PUT')).status, 200);
  await client.until(() => client.text.includes('HTTP/1.1 101 '));
  client.send('late');
  await eventually(() => received === 'early late', 'the frames');
});

t.test('a handshake that states an empty body, or offers more than a WebSocket, is one', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const [name, change] of [
    ['Java', { 'Content-Length': '0' }],
    ['a list', { Upgrade: 'websocket, h2c' }],
    [
      'a list that prefers another',
      { Upgrade: 'h2c,\tWebSocket', Connection: 'HTTP2-Settings, keep-alive,upgrade' },
    ],
    ['two lines', { Upgrade: 'h2c\r\nUpgrade: websocket' }],
  ] as const) {
    const client = await rawClient(t, port);
    const headers = Object.entries({ ...Object.fromEntries(handshake(parent.key)), ...change });
    client.send(requestText('GET', '/', headers));
    await client.until(() => client.text.includes('\r\n\r\n'));
    t.match(client.text, /^HTTP\/1\.1 101 /, name);
    const { headers: got } = upstream.handshakes.at(-1) ?? { headers: {} };
    t.match(got, { upgrade: 'websocket', connection: 'Upgrade', 'content-length': undefined });
    client.socket.destroy();
  }
});

t.test('interim responses before the consent are between the upstream and the gateway', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n');
    socket.write(consent);
  });
  const { parent, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestText('GET', '/', handshake(parent.key)));
  await client.until(() => client.text.includes('\r\n\r\n'));
  t.ok(client.text.startsWith('HTTP/1.1 101 '));
});
