import { createServer } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { WebSocketServer } from 'ws';
import { eventually, startGateway } from '../../support/gateway.ts';
import { rawClient, requestText } from '../../support/raw-client.ts';
import { startRawUpstream, startTcpUpstream, startUpstream } from '../../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../../support/websockets.ts';

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

t.test('an upstream’s rejection is the client’s, status, headers and body', async (t) => {
  const upstream = await startRawUpstream(t, () => (request, response) => {
    const status = Number(request.url?.slice(1));
    const headers = {
      'content-type': 'text/plain',
      'www-authenticate': 'Custom',
      'x-service-caller-key': 'forged',
    };
    response.writeHead(status, headers).end(`no: ${status}`);
  });
  const { port, parent, finished, usage } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const status of [200, 302, 401, 403, 404, 429, 500, 503]) {
    const client = await rawClient(t, port);
    client.send(requestText('GET', `/${status}`, handshake(parent.key)));
    const response = await client.response();
    t.equal(response.status, status);
    t.equal(response.body, `no: ${status}`);
    t.match(response.headers, {
      'content-type': 'text/plain',
      'www-authenticate': 'Custom',
      'x-service-resolved-tenant': parent.id,
      'x-request-id': /^[0-9a-f]{32}$/,
      connection: 'close',
    });
    t.notMatch(response.rawHead, 'forged');
    await client.end();
  }
  await t.rejects(openWebSocket(t, port, '/403', bearer(parent.key)), { message: 'status 403' });
  await eventually(() => finished.length === 9, 'the records');
  t.match(finished[2], { status: 401, code: null, bytesOut: 'no: 401'.length });
  t.match(usage[2], { kind: 'read', status: 401 });
});

t.test('a rejection that breaks off is cut, not ended', async (t) => {
  let breakOff = (): unknown => undefined;
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write('HTTP/1.1 403 No\r\nContent-Length: 10\r\n\r\nhalf');
    breakOff = () => socket.destroy();
  });
  const { port, parent, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(requestText('GET', '/', handshake(parent.key)));
  await eventually(() => client.text.includes('half'), 'the first half of the response');
  breakOff();
  await client.end();
  t.notMatch(client.text, /\r\n\r\n.{10}/);
  await eventually(() => finished.length === 1, 'the record');
  t.equal(finished[0]?.code, 'cut_by_upstream');
});

t.test('an upstream that is down, breaks off or says nothing is 502 or 504', async (t) => {
  const closing = await startTcpUpstream(t, (socket) => socket.end());
  const reset = await startTcpUpstream(t, (socket) => socket.resetAndDestroy());
  const nonsense = await startTcpUpstream(t, (socket) => socket.end('SSH-2.0-x\r\n\r\n'));
  const silent = await startTcpUpstream(t, () => undefined);
  const { port, parent, finished } = await startGateway(t, {
    routes: {
      '/down': 'http://127.0.0.1:1',
      '/closing': closing.url,
      '/reset': reset.url,
      '/nonsense': nonsense.url,
      '/silent': { upstream: silent.url, timeouts: { connectMs: 5000, headersMs: 100, bodyMs: 5000 } },
    },
    limits: { bodyIdleMs: 400 },
  });
  for (const [path, status] of [
    ['/down', 502],
    ['/closing', 502],
    ['/reset', 502],
    ['/nonsense', 502],
    ['/silent', 504],
  ] as const) {
    await t.rejects(openWebSocket(t, port, path, bearer(parent.key)), { message: `status ${status}` }, path);
  }
  t.match(
    finished.map(({ status, code }) => [status, code]),
    [...Array.from({ length: 4 }, () => [502, 'upstream_unreachable']), [504, 'upstream_timeout']],
  );
});

t.test('an upstream that does not know upgrades responds as to any other request', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  await t.rejects(openWebSocket(t, port, '/x', bearer(parent.key)), { message: 'status 200' });
  t.equal(upstream.received[0]?.target, '/x');
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

t.test(
  'frames that come before the consent go on after it, those with the handshake and later ones',
  async (t) => {
    let consent: () => void = () => undefined;
    let received = '';
    const upstream = await startTcpUpstream(t, (socket) => {
      socket.on('data', (chunk) => (received += chunk.toString('latin1')));
      consent = () => void socket.write(`HTTP/1.1 101 X\r\n${consenting}\r\n\r\n`);
    });
    const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
    const client = await rawClient(t, port);
    client.send(`${requestText('GET', '/', handshake(parent.key))}first `);
    await eventually(() => upstream.heads === 1, 'the handshake');
    client.send('second ');
    consent();
    await client.until(() => client.text.endsWith('\r\n\r\n'));
    client.send('third');
    await eventually(() => received.endsWith('first second third'), 'the frames');
  },
);

t.test('interim responses before the consent are between the upstream and the gateway', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n');
    socket.write(`HTTP/1.1 101 X\r\n${consenting}\r\n\r\n`);
  });
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(requestText('GET', '/', handshake(parent.key)));
  await client.until(() => client.text.includes('\r\n\r\n'));
  t.ok(client.text.startsWith('HTTP/1.1 101 '));
});

const consenting =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

function handshake(key: string): [string, string][] {
  return [
    ['Authorization', `Bearer ${key}`],
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Version', '13'],
    ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
  ];
}
