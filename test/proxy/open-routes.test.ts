// class: app
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawRequest } from '../support/raw-client.ts';
import { startUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

const open = { perSecond: 10_000 };

for (const client of ['native', 'undici'] as const) {
  t.test(`${client}: an open route serves any request, and counts none`, async (t) => {
    const upstream = await startUpstream(t, ({ body }, response) => response.writeHead(201).end(body));
    const { call, usage, touched, finished, directory, parent } = await startGateway(t, {
      routes: { '/': upstream.url, '/login': { upstream: upstream.url, client, open } },
    });
    directory.addSubAccount(parent);
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const key of [null, 'nonsense', parent.key]) {
        const body = method === 'POST' ? 'a body' : '';
        const response = await call(method, '/login?next=%2F', { key, body });
        t.match(response, { status: 201, body }, method);
        t.notOk('x-service-resolved-tenant' in response.headers);
      }
    }
    t.match(upstream.received.at(-1), { target: '/login?next=%2F' });
    t.strictSame([usage, touched], [[], []]);
    t.match(finished.at(-1), {
      route: '/login',
      status: 201,
      caller: null,
      keyId: null,
      resolvedTenant: null,
    });
    t.equal((await call('GET', '/loginother', { key: null })).status, 401, 'the route ends with its segment');
    t.equal((await call('TRACE', '/login', { key: null })).status, 405);
  });

  t.test(`${client}: a long body and a chunked one pass through an open route`, async (t) => {
    const upstream = await startUpstream(t, ({ body }, response) => response.end(String(body.length)));
    const { call, port } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, client, open } },
    });
    t.match(await call('POST', '/', { key: null, body: 'x'.repeat(1_000_000) }), { body: '1000000' });
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
    t.match(await rawRequest(t, port, `${head}3\r\nabc\r\n0\r\n\r\n`), { status: 200, body: '3' });
  });
}

t.test('an open route serves requests while the store is away', async (t) => {
  const upstream = await startUpstream(t);
  const { call, directory } = await startGateway(t, {
    routes: { '/': upstream.url, '/login': { upstream: upstream.url, open } },
  });
  directory.failure = new Error('the store is away');
  t.equal((await call('GET', '/login', { key: null })).status, 200);
  t.not((await call('GET', '/')).status, 200);
});

t.test('a WebSocket to an open route opens without a key', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, finished } = await startGateway(t, { routes: { '/': { upstream: upstream.url, open } } });
  const client = await openWebSocket(t, port, '/', {});
  client.socket.send('hello');
  await eventually(() => client.messages.includes('hello'));
  client.socket.close();
  await eventually(() => finished.length === 1);
  t.match(finished[0], { status: 101, caller: null });
});
