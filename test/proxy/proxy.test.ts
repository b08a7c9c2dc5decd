// class: app
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startGateway, startProxied } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('a request goes through, is logged and is counted', async (t) => {
  const { upstream, call, parent, usage, finished } = await startProxied(t);
  const headers = { 'X-Custom': 'yes', 'x-custom': 'again', 'X-Latin1': 'caf\xe9' };
  const response = await call('GET', '/v1/shipments/1?q=%2F', { headers });
  const [got] = upstream.received;
  t.strictSame(got?.values('x-custom'), ['yes', 'again']);
  t.strictSame(got?.values('x-latin1'), ['caf\xe9']);
  t.equal(response.headers['x-service-resolved-tenant'], parent.id);
  t.equal(response.headers['x-request-id'], got?.values('x-request-id')[0]);
  const record = { path: '/v1/shipments/1', route: '/', keyId: parent.keyId, reason: 'self-by-default' };
  t.match(finished, [{ status: 200, code: null, ...record }]);
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
        headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Encoding': 'unknown' },
      });
      t.equal(response.status, 200);
      t.ok(response.body === body, `${method} ${length}`);
      t.equal(finished.at(-1)?.bytesIn, length);
    }
  }
});

t.test('empty bodies stay empty', async (t) => {
  const { upstream, call } = await startProxied(t);
  await call('POST', '/', { headers: [['Content-Length', '0']] });
  t.strictSame(upstream.received[0]?.values('content-length'), ['0']);
  await call('GET', '/');
  t.strictSame(upstream.received[1]?.values('content-length'), []);
  t.strictSame(upstream.received[1]?.values('transfer-encoding'), []);
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

t.test('HTTP/1.0 clients are served', async (t) => {
  const upstream = await startUpstream(t, (_request, response) => {
    response.write('in ');
    response.end('pieces');
  });
  const { parent, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(`GET / HTTP/1.0\r\nAuthorization: Bearer ${parent.key}\r\n\r\n`);
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
    t.match(response, { status: 404, code: 'not_found' }, path);
    t.equal(response.json().instance, path);
  }
});
