import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

t.test(
  'a WebSocket gets the same headers as a plain request: no forged ones, and all of the gateway’s',
  async (t) => {
    const upstream = await startWebSocketUpstream(t);
    const { port, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
    const child = directory.addSubAccount(parent, 'child');
    const client = await openWebSocket(t, port, '/events?since=%2F1', {
      authorization: `Bearer ${parent.key}`,
      'x-service-acting-tenant': 'ext:child',
      'x-service-resolved-tenant': 'forged',
      x_service_caller_key: 'forged',
      'x-forwarded-for': 'forged',
      'x-request-id': 'forged',
      'proxy-authorization': 'forged',
      cookie: 'a=1',
    });
    client.socket.send('hello');
    await eventually(() => client.messages.includes('hello'), 'the echo');
    const [handshake] = upstream.handshakes;
    t.equal(handshake?.url, '/events?since=%2F1');
    t.notOk(handshake?.rawHeaders.includes('forged'));
    t.match(handshake?.headers, {
      'x-service-resolved-tenant': child.id,
      'x-service-caller-tenant': parent.id,
      'x-service-caller-key': parent.keyId,
      'x-forwarded-for': '127.0.0.1',
      'x-request-id': /^[0-9a-f]{32}$/,
      cookie: 'a=1',
    });
    t.notOk(handshake?.headers.authorization);
  },
);

t.test('a WebSocket is refused as a plain request would be', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent, directory, call } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, scopes: { read: 'tracking:read', write: null } } },
  });
  const other = directory.addParent([]);
  const key = (holder: { key: string }) => ({ authorization: `Bearer ${holder.key}` });
  await t.rejects(openWebSocket(t, port, '/', {}), { message: 'status 401' });
  await t.rejects(openWebSocket(t, port, '/', key(other)), { message: 'status 403' });
  await t.rejects(openWebSocket(t, port, '/', { ...key(parent), 'x-service-acting-tenant': 'ext:nobody' }), {
    message: 'status 403',
  });
  t.equal(upstream.handshakes.length, 0);
  t.equal((await call('GET', '/')).status, 426, 'a plain request still gets there');
});

t.test('other upgrades, and handshakes that are none, are refused', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const good: Record<string, string> = {
    Authorization: `Bearer ${parent.key}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  for (const [name, change] of [
    ['h2c', { Upgrade: 'h2c' }],
    ['several', { Upgrade: 'websocket, h2c' }],
    ['version', { 'Sec-WebSocket-Version': '8' }],
    ['key', { 'Sec-WebSocket-Key': 'short' }],
    ['body', { 'Content-Length': '5' }],
    ['override', { 'X-HTTP-Method-Override': 'DELETE' }],
  ] as const) {
    const client = await rawClient(t, port);
    client.send(requestText('GET', '/', Object.entries({ ...good, ...change })));
    const answer = await client.answer();
    t.equal(answer.status, 400, name);
    t.equal(answer.headers['content-type'], 'application/problem+json', name);
    await client.end();
  }
  const post = await rawClient(t, port);
  post.send(requestText('POST', '/', Object.entries(good)));
  t.equal((await post.answer('POST')).status, 400);
  t.equal(upstream.heads, 0);
});

t.test('what follows a refused upgrade on its connection is not a request', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  const authorization: [string, string] = ['Authorization', `Bearer ${parent.key}`];
  client.send(
    requestText('GET', '/', [authorization, ['Connection', 'Upgrade'], ['Upgrade', 'h2c']]) +
      requestText('GET', '/smuggled', [authorization]),
  );
  await client.end();
  t.equal(client.text.split('HTTP/1.1 ').length, 2, 'one answer');
  t.equal(upstream.heads, 0);
});

t.test('a client that resets its connection while its upgrade is decided does no harm', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
  directory.late.add(parent.keyKey);
  for (let i = 0; i < 5; i++) {
    const client = await rawClient(t, port);
    client.send(
      requestText('GET', '/', [
        ['Authorization', `Bearer ${parent.key}`],
        ['Connection', 'Upgrade'],
        ['Upgrade', 'websocket'],
        ['Sec-WebSocket-Version', '13'],
        ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
      ]),
    );
    await eventually(() => directory.waiting === i + 1, 'the decision');
    client.socket.resetAndDestroy();
    await client.end();
  }
  directory.deliver();
  const fine = await openWebSocket(t, port, '/', { authorization: `Bearer ${parent.key}` });
  await eventually(() => upstream.handshakes.length === 1, 'the handshake');
  fine.socket.terminate();
});

t.test('a close frame about a failing upstream names neither its host nor its port', async (t) => {
  const upstream = await startUpstream(t, (_request, response) => response.writeHead(401).end());
  const { port, parent } = await startGateway(t, {
    routes: {
      '/refused': 'http://127.0.0.1:1',
      '/plain': upstream.url,
      '/unknown': 'http://no-such-host.invalid:81',
    },
  });
  for (const path of ['/refused', '/plain', '/unknown']) {
    const client = await openWebSocket(t, port, path, { authorization: `Bearer ${parent.key}` });
    await eventually(() => client.closed !== null, 'the close');
    t.equal(client.closed?.code, 1011, path);
    t.notMatch(client.closed?.reason, /127\.0\.0\.1|no-such|ECONN|ENOTFOUND|:\d+/, path);
  }
});
