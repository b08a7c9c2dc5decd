// class: app
import t from 'tap';
import { startGateway, startProxied } from '../../support/gateway.ts';
import { preflight } from '../../support/raw-client.ts';
import { startUpstream } from '../../support/upstreams.ts';

t.test('a CORS preflight needs a key, unless the route lets it pass without identity', async (t) => {
  const upstream = await startUpstream(t, (_request, response) => {
    response
      .writeHead(204, { 'access-control-allow-origin': '*', 'x-service-resolved-tenant': 'forged' })
      .end();
  });
  const { call, usage, finished } = await startGateway(t, {
    routes: { '/': upstream.url, '/open': { upstream: upstream.url, preflight: 'pass' } },
  });
  t.equal((await call('OPTIONS', '/', { key: null, headers: preflight })).status, 401);
  t.equal(upstream.heads, 0);

  const response = await call('OPTIONS', '/open', {
    key: null,
    headers: { ...preflight, 'X-Service-Resolved-Tenant': 'forged', 'X-Service-Acting-Tenant': 'self' },
  });
  t.equal(response.status, 204);
  t.equal(response.headers['access-control-allow-origin'], '*');
  t.notOk('x-service-resolved-tenant' in response.headers);
  t.notMatch(upstream.received[0]?.rawHeaders.join('\n'), /^x-service-/im);
  t.strictSame(upstream.received[0]?.values('origin'), ['https://app.example']);
  t.equal(usage.length, 0);
  t.match(finished.at(-1), { status: 204, keyId: null, resolvedTenant: null });
});

t.test('only a preflight passes: no other request, and a key is never ignored', async (t) => {
  const { upstream, call, parent } = await startProxied(t, { route: { preflight: 'pass' } });
  const { Origin } = preflight;
  for (const [method, options] of [
    ['GET', { key: null, headers: preflight }],
    ['POST', { key: null, headers: preflight }],
    ['OPTIONS', { key: null }],
    ['OPTIONS', { key: null, headers: { Origin } }],
    ['OPTIONS', { key: 'nonsense', headers: preflight }],
  ] as const)
    t.equal((await call(method, '/', options)).status, 401, method);
  t.equal(upstream.heads, 0);
  await call('OPTIONS', '/', { headers: preflight });
  t.strictSame(upstream.received[0]?.values('x-service-resolved-tenant'), [parent.id]);
});
