// class: app
import t from 'tap';
import { startGateway } from '../../support/gateway.ts';
import { startUpstream } from '../../support/upstreams.ts';

const preflight: [string, string][] = [
  ['Origin', 'https://app.example'],
  ['Access-Control-Request-Method', 'PUT'],
];

t.test(
  'a CORS preflight needs a key, unless the route lets it pass; then it goes without identity',
  async (t) => {
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
      headers: [...preflight, ['X-Service-Resolved-Tenant', 'forged'], ['X-Service-Acting-Tenant', 'self']],
    });
    t.equal(response.status, 204);
    t.equal(response.headers['access-control-allow-origin'], '*');
    t.notOk('x-service-resolved-tenant' in response.headers);
    const names =
      upstream.received[0]?.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()) ?? [];
    t.strictSame(
      names.filter((name) => name.startsWith('x-service-')),
      [],
    );
    t.strictSame(upstream.received[0]?.values('origin'), ['https://app.example']);
    t.equal(usage.length, 0);
    t.match(finished.at(-1), { status: 204, keyId: null, resolvedTenant: null });
  },
);

t.test(
  'only a preflight passes: not another method, not another OPTIONS, and a key is never ignored',
  async (t) => {
    const upstream = await startUpstream(t);
    const { call, parent } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, preflight: 'pass' } },
    });
    const [origin = ['', '']] = preflight;
    t.equal((await call('GET', '/', { key: null, headers: preflight })).status, 401);
    t.equal((await call('POST', '/', { key: null, headers: preflight })).status, 401);
    t.equal((await call('OPTIONS', '/', { key: null })).status, 401);
    t.equal((await call('OPTIONS', '/', { key: null, headers: [origin] })).status, 401);
    t.equal((await call('OPTIONS', '/', { key: 'nonsense', headers: preflight })).status, 401);
    t.equal(upstream.heads, 0);
    await call('OPTIONS', '/', { headers: preflight });
    t.strictSame(upstream.received[0]?.values('x-service-resolved-tenant'), [parent.id]);
  },
);
