import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { eventually, standstill, startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startRawUpstream, startTcpUpstream, startUpstream } from '../support/upstreams.ts';

t.test('a request goes through with the headers of the gateway, and is counted', async (t) => {
  const upstream = await startUpstream(t);
  const { call, parent, usage, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  const response = await call('GET', '/v1/shipments/1?q=%2F', {
    headers: [
      ['X-Custom', 'yes'],
      ['x-custom', 'again'],
      ['X-Latin1', 'caf\xe9'],
    ],
  });
  t.equal(response.status, 200);
  const [got] = upstream.received;
  t.equal(got?.target, '/v1/shipments/1?q=%2F');
  t.strictSame(got?.values('x-service-resolved-tenant'), [parent.id]);
  t.strictSame(got?.values('x-service-caller-tenant'), [parent.id]);
  t.strictSame(got?.values('x-service-caller-key'), [parent.keyId]);
  t.strictSame(got?.values('x-service-caller-scopes'), ['tracking:read tracking:write']);
  t.strictSame(got?.values('authorization'), []);
  t.strictSame(got?.values('x-custom'), ['yes', 'again']);
  t.strictSame(got?.values('x-latin1'), ['caf\xe9']);
  t.strictSame(got?.values('host'), ['gateway.test']);
  t.equal(response.headers['x-service-resolved-tenant'], parent.id);
  t.equal(response.headers['x-request-id'], got?.values('x-request-id')[0]);
  t.match(finished, [
    {
      status: 200,
      code: null,
      reason: 'self-by-default',
      path: '/v1/shipments/1',
      route: '/',
      keyId: parent.keyId,
    },
  ]);
  t.match(usage, [{ accountId: parent.id, keyId: parent.keyId, kind: 'read', status: 200, bytesIn: 0 }]);
  t.equal(usage[0]?.bytesOut, response.body.length);
});

t.test('bodies of every kind and length go through both ways, byte for byte', async (t) => {
  const upstream = await startUpstream(t, ({ body, method }, response) => {
    if (method === 'PUT') response.writeHead(200, { 'content-length': body.length });
    response.end(body);
  });
  const { call, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'OPTIONS']) {
    for (const length of [1, 10, 16_384, 16_385, 300_000]) {
      const body = randomBytes(length).toString('latin1');
      const response = await call(method, '/', {
        body,
        headers: [
          ['Content-Type', 'text/plain; charset=utf-8'],
          ['Content-Encoding', 'unknown'],
        ],
      });
      t.equal(response.status, 200);
      t.ok(response.body === body, `${method} ${length}`);
      t.equal(finished.at(-1)?.bytesIn, length);
    }
  }
});

t.test('a body of unknown length goes through', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(
    requestText('POST', '/', [
      ['Authorization', `Bearer ${parent.key}`],
      ['Transfer-Encoding', 'Chunked'],
    ]),
  );
  client.send('3\r\nabc\r\n').send('2\r\nde\r\n').send('0\r\n\r\n');
  t.equal((await client.response()).status, 200);
  t.equal(upstream.received[0]?.body.toString(), 'abcde');
  t.strictSame(upstream.received[0]?.values('transfer-encoding'), ['chunked']);
});

t.test('empty bodies stay empty', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  await call('POST', '/', { headers: [['Content-Length', '0']] });
  t.strictSame(upstream.received[0]?.values('content-length'), ['0']);
  await call('GET', '/');
  t.strictSame(upstream.received[1]?.values('content-length'), []);
  t.strictSame(upstream.received[1]?.values('transfer-encoding'), []);
});

t.test('responses without a body have none, and the connection goes on', async (t) => {
  const upstream = await startUpstream(t, ({ target }, response) => {
    const status = Number(target.slice(1));
    response
      .writeHead(status, status === 200 ? { 'content-length': 100, etag: '"1"' } : { etag: '"1"' })
      .end();
  });
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  const authorization: [string, string] = ['Authorization', `Bearer ${parent.key}`];
  for (const [method, status] of [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
    ['HEAD', 404],
    ['DELETE', 204],
  ] as const) {
    client.send(requestText(method, `/${status}`, [authorization]));
    const response = await client.response(method);
    t.equal(response.status, status);
    t.equal(response.headers['etag'], '"1"');
    if (method === 'HEAD' && status === 200) t.equal(response.headers['content-length'], '100');
  }
});

t.test(
  'no length is stated where there can be no body; a 304 states that of the body it stands for',
  async (t) => {
    const upstream = await startTcpUpstream(t, (socket, head) => {
      const status = head.split(' ')[1]?.slice(1);
      socket.write(`HTTP/1.1 ${status} So\r\nContent-Length: 12\r\nX-Own: 1\r\n\r\n`);
    });
    const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
    const client = await rawClient(t, port);
    for (const [method, status, length] of [
      ['GET', 204, undefined],
      ['HEAD', 204, undefined],
      ['GET', 304, '12'],
      ['HEAD', 200, '12'],
    ] as const) {
      client.send(requestText(method, `/${status}`, [['Authorization', `Bearer ${parent.key}`]]));
      const { headers } = await client.response(method);
      t.equal(headers['content-length'], length, `${method} ${status}`);
      t.equal(headers['x-own'], '1');
    }
    t.equal(upstream.connections, 1);
  },
);

t.test('a response is told as it was: status, reason, headers in their order, cookies apart', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write(
      'HTTP/1.1 299 Rather Fine\r\nX-B: 1\r\nX-A: 2\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n' +
        'Date: Sat, 01 Jan 2000 00:00:00 GMT\r\nX-Latin1: caf\xe9\r\nContent-Length: 0\r\n\r\n',
      'latin1',
    );
  });
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  const { rawHead } = await call('GET', '/');
  t.ok(
    rawHead.startsWith(
      'HTTP/1.1 299 Rather Fine\r\nX-B: 1\r\nX-A: 2\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n',
    ),
  );
  t.match(rawHead, /X-Latin1: caf\xe9\r\n/);
  t.equal(rawHead.match(/^date:/gim)?.length, 1);
});

t.test('interim responses of an upstream stay on its side', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n' +
        'HTTP/1.1 102 Processing\r\n\r\n' +
        'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    );
  });
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(requestText('GET', '/', [['Authorization', `Bearer ${parent.key}`]]));
  t.equal((await client.response()).body, 'ok');
  t.ok(client.text.startsWith('HTTP/1.1 200 '));
});

t.test('100 is swallowed, and after a HEAD the connection carries the next request', async (t) => {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    const reply = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';
    socket.write(head.startsWith('HEAD') ? reply : `${reply}ok`);
  });
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  for (const method of ['HEAD', 'GET', 'HEAD', 'POST']) {
    client.send(requestText(method, '/', [['Authorization', `Bearer ${parent.key}`]]));
    const { status, body } = await client.response(method);
    t.equal(status, 200);
    t.equal(body, method === 'HEAD' ? '' : 'ok');
  }
  t.notMatch(client.text, / 100 /);
  t.equal(upstream.connections, 1);
});

t.test('an event stream arrives as it is written', async (t) => {
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    response.socket?.once('tick', () => response.write('data: one\n\n'));
    response.socket?.once('tock', () => response.end('data: two\n\n'));
    sockets.push(response.socket);
  });
  const sockets: (NodeJS.EventEmitter | null)[] = [];
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(requestText('GET', '/', [['Authorization', `Bearer ${parent.key}`]]));
  await client.until(() => client.text.includes('\r\n\r\n'));
  t.notMatch(client.text, /data/, 'the head comes first');
  sockets[0]?.emit('tick');
  await client.until(() => client.text.includes('data: one'));
  sockets[0]?.emit('tock');
  t.equal((await client.response()).body, 'data: one\n\ndata: two\n\n');
});

t.test('an event stream lives as long as it talks, and is cut when it falls silent', async (t) => {
  let events = 0;
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const talking = setInterval(() => {
      response.write(':\n');
      if (++events === 25) clearInterval(talking);
    }, 100);
  });
  const timeouts = { connectMs: 5000, headersMs: 5000, bodyMs: 1500 };
  const { port, parent, finished } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, timeouts } },
  });
  const client = await rawClient(t, port);
  client.send(requestText('GET', '/', [['Authorization', `Bearer ${parent.key}`]]));
  await client.end();
  t.equal(client.text.split(':\n\r\n').length, 26, 'all events, over a time longer than the limit');
  t.notMatch(client.text, /\r\n0\r\n\r\n$/, 'cut, not ended');
  await eventually(() => finished.length === 1, 'the record');
  t.equal(finished[0]?.code, 'cut_by_upstream');
});

t.test('a long response is not held in memory for a slow reader', async (t) => {
  const total = 64 * 1024 * 1024;
  const hash = createHash('sha256');
  let written = 0;
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.writeHead(200, { 'content-length': total });
    const chunk = randomBytes(64 * 1024);
    const write = (): void => {
      while (written < total) {
        written += chunk.length;
        hash.update(chunk);
        if (!response.write(chunk)) return;
      }
      response.end();
    };
    response.on('drain', write);
    write();
  });
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  // By hand: the client keeps text, and this is too much of it.
  client.socket.removeAllListeners('data');
  const got = createHash('sha256');
  let [read, body] = [Buffer.alloc(0), 0];
  client.socket.pause();
  client.send(requestText('GET', '/', [['Authorization', `Bearer ${parent.key}`]]));
  await standstill(() => written);
  t.ok(written < total / 2, `${written} bytes were taken from the upstream`);
  await new Promise<void>((resolve) => {
    client.socket.on('data', (chunk) => {
      if (body === 0) {
        read = Buffer.concat([read, chunk]);
        const end = read.indexOf('\r\n\r\n');
        if (end === -1) return;
        chunk = read.subarray(end + 4);
      }
      body += chunk.length;
      got.update(chunk);
      if (body === total) resolve();
    });
    client.socket.resume();
  });
  t.equal(got.digest('hex'), hash.digest('hex'));
});

t.test('a long body is not held in memory for a slow upstream', async (t) => {
  const total = 64 * 1024 * 1024;
  let resume: (() => void) | undefined;
  const upstream = await startRawUpstream(t, () => (request, response) => {
    let bytes = 0;
    resume = () => request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => response.end(String(bytes)));
  });
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(
    requestText('POST', '/', [
      ['Authorization', `Bearer ${parent.key}`],
      ['Content-Length', String(total)],
    ]),
  );
  const chunk = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < total; sent += chunk.length) client.send(chunk);
  await standstill(() =>
    resume === undefined ? 0 : client.socket.bytesWritten - client.socket.writableLength,
  );
  t.ok(
    client.socket.writableLength > total / 2,
    `${client.socket.writableLength} bytes are still the client's`,
  );
  resume?.();
  t.equal((await client.response('POST')).body, String(total));
});

t.test('an upstream on a socket file', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'upstream-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const upstream = await startUpstream(t, undefined, { path: join(directory, 'up.sock') });
  const { call } = await startGateway(t, {
    routes: { '/': upstream.url, '/own': { upstream: upstream.url, host: 'upstream' } },
  });
  t.equal((await call('POST', '/a', { body: 'b' })).status, 200);
  t.strictSame(upstream.received[0]?.values('host'), ['gateway.test']);
  await call('GET', '/own');
  t.strictSame(upstream.received[1]?.values('host'), ['localhost']);
});

t.test('host: upstream', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, { routes: { '/': { upstream: upstream.url, host: 'upstream' } } });
  await call('GET', '/');
  t.strictSame(upstream.received[0]?.values('host'), [`127.0.0.1:${upstream.port}`]);
  t.strictSame(upstream.received[0]?.values('x-forwarded-host'), ['gateway.test']);
});

t.test('connections to an upstream are kept, and not more of them opened than allowed', async (t) => {
  let busy = 0;
  let most = 0;
  const upstream = await startUpstream(t, (_request, response) => {
    most = Math.max(most, ++busy);
    setTimeout(() => {
      busy -= 1;
      response.end('ok');
    }, 10);
  });
  const { call } = await startGateway(t, { routes: { '/': { upstream: upstream.url, connections: 4 } } });
  const responses = await Promise.all(Array.from({ length: 40 }, () => call('GET', '/')));
  t.ok(responses.every(({ status }) => status === 200));
  t.equal(most, 4);
  t.equal(upstream.connections, 4);
});

t.test('HTTP/1.0 clients are served', async (t) => {
  const upstream = await startUpstream(t, (_request, response) => {
    response.write('in ');
    response.end('pieces');
  });
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(`GET / HTTP/1.0\r\nAuthorization: Bearer ${parent.key}\r\n\r\n`);
  const response = await client.response();
  t.equal(response.body, 'in pieces');
  t.notOk(response.headers['transfer-encoding']);
});

t.test('the longest prefix wins, by whole segments; a path without a route is nowhere', async (t) => {
  const [api, rates] = [await startUpstream(t), await startUpstream(t)];
  const { call } = await startGateway(t, { routes: { '/v1': api.url, '/v1/rates': rates.url } });
  for (const path of ['/v1', '/v1/', '/v1/x', '/v1/rates2', '/v1?x=/rates']) {
    await call('GET', path);
    t.equal(api.received.at(-1)?.target, path);
  }
  for (const path of ['/v1/rates', '/v1/rates/', '/v1/rates/x', '/v1/rates?x']) {
    await call('GET', path);
    t.equal(rates.received.at(-1)?.target, path);
  }
  for (const path of ['/', '/v2', '/v1x', '/-/route/0', '/-/none']) {
    const response = await call('GET', path);
    t.equal(response.status, 404, path);
    t.equal(response.json().code, 'not_found');
    t.equal(response.json().instance, path);
  }
});
