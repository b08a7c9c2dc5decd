// class: real
/** nginx with a cache before the gateway: what it keeps of one client, it must not give to another. */
import t from 'tap';
import { operatorToken, startApis } from '../support/apis.ts';
import { startGateway } from '../support/gateway.ts';
import { httpClient } from '../support/http-client.ts';
import { oddProxies, startCache } from '../support/odd-proxies.ts';
import { openPortal } from '../support/portal.ts';
import { upstreamClient } from '../support/upstream-client-option.ts';
import { startUpstream } from '../support/upstreams.ts';

const skip =
  oddProxies.nginx.program === undefined && 'NO nginx ON THIS MACHINE: no cache was tried before the gateway';

/** What services say that want caches to keep a response. */
const wishes: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'cache-control': 'max-age=60' },
  { 'cache-control': 'public, max-age=60' },
  { 'cache-control': 'x="private", s-maxage=60' },
  { 'cache-control': 'private="set-cookie", max-age=60' },
  { 'x-accel-expires': '60' },
  { x_accel_expires: '60', 'cache-control': 'private', 'x-accel-expires': '@99999999999' },
  { expires: new Date(Date.now() + 3_600_000).toUTCString() },
];

t.test('a shared cache keeps nothing of a route, whatever its service says', { skip }, async (t) => {
  const upstream = await startUpstream(t, ({ target, values }, response) => {
    response.writeHead(200, wishes[Number(target.slice(1))]).end(values('x-service-resolved-tenant')[0]);
  });
  const { port, directory, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const [ada, bob] = [directory.addSubAccount(parent, 'ada'), directory.addSubAccount(parent, 'bob')];
  const call = httpClient(t, await startCache(t, `http://127.0.0.1:${port}`));
  const asked = (path: string, as: string) =>
    call('GET', path, { key: parent.key, headers: { 'x-service-acting-tenant': as } });
  for (const [number, wish] of wishes.entries()) {
    const before = upstream.heads;
    const said = JSON.stringify(wish);
    for (const [as, { id }] of [
      ['ext:ada', ada],
      ['ext:bob', bob],
      ['ext:ada', ada],
    ] as const)
      t.equal((await asked(`/${number}`, as)).text, id, `${as}: ${said}`);
    t.equal((await call('GET', `/${number}`)).status, 401, `no key: ${said}`);
    t.equal(upstream.heads, before + 3, `nothing was kept: ${said}`);
  }
  directory.revoke(parent.revoked);
  for (const number of wishes.keys()) t.equal((await asked(`/${number}`, 'ext:ada')).status, 401, 'revoked');
});

t.test('with shared_cache: allow, it keeps a response for each tenant and key', { skip }, async (t) => {
  const upstream = await startUpstream(t, ({ values }, response) => {
    response.writeHead(200, { 'cache-control': 'max-age=60' }).end(values('x-service-resolved-tenant')[0]);
  });
  const { port, directory, parent } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, sharedCache: 'allow' } },
    apiKeyHeaders: ['X-API-Key'],
  });
  const other = directory.addParent();
  const of = (holder: typeof parent, name: string) => directory.addSubAccount(holder, name).id;
  const [ada, bob, theirs] = [of(parent, 'ada'), of(parent, 'bob'), of(other, 'ada')];
  const call = httpClient(t, await startCache(t, `http://127.0.0.1:${port}`));
  const asked = async (headers: Readonly<Record<string, string>>) => {
    const { status, text, headers: said } = await call('GET', '/', { headers });
    return status === 200 ? [text, said['x-cache']] : status;
  };
  const as = (name: string, key: Readonly<Record<string, string>>) => ({
    'x-service-acting-tenant': `ext:${name}`,
    ...key,
  });
  const own = { authorization: `Bearer ${parent.key}` };
  const inHeader = { 'x-api-key': other.key };
  t.same(await asked(as('ada', own)), [ada, 'MISS']);
  t.same(await asked(as('ada', own)), [ada, 'HIT']);
  t.same(await asked(as('bob', own)), [bob, 'MISS']);
  t.same(await asked(as('ada', inHeader)), [theirs, 'MISS']);
  t.same(await asked(as('ada', inHeader)), [theirs, 'HIT']);
  for (const more of [{}, { 'x-api-key': 'none' }]) t.same(await asked(as('ada', more)), 401);
  directory.revoke(parent.revoked);
  t.same(await asked(as('ada', own)), [ada, 'HIT'], 'as the docs of the option say');
});

t.test('it keeps nothing of management, operators and the portal', { skip }, async (t) => {
  if (upstreamClient === 'undici') return;
  const apis = await startApis(t, { portal: {} });
  const [one, other] = [await apis.parent(), await apis.parent()];
  const { id } = await one.create({ name: 'Ada', external_id: 'ada' });
  const portal = await openPortal(t, apis, one);
  const readers = [
    { origin: apis.origin, key: one.key, wrong: other.key, paths: publicPaths(id) },
    { origin: apis.internalOrigin, key: operatorToken, wrong: one.key, paths: operatorPaths(one.id) },
    {
      origin: apis.portalOrigin ?? '',
      key: portal.token,
      wrong: one.key,
      paths: ['/api/session', '/api/sub-accounts'],
    },
  ];
  for (const { origin, key, wrong, paths } of readers) {
    const call = httpClient(t, await startCache(t, origin));
    for (const path of paths) {
      const own = await call('GET', path, { key });
      t.equal(own.status, 200, path);
      t.equal(own.headers['cache-control'], 'no-store', path);
      t.not((await call('GET', path, { key: wrong })).text, own.text, `${path}, for somebody else`);
      t.equal((await call('GET', path)).status, 401, `${path}, without a key`);
    }
  }
});

function publicPaths(id: string): readonly string[] {
  return ['', '/caller', `/${id}`, `/${id}/api-keys`, '/events', '/usage?from=2026-01-01'].map(
    (path) => `/v1/sub-accounts${path}`,
  );
}

function operatorPaths(id: string): readonly string[] {
  return ['/accounts', `/accounts/${id}`, `/accounts/${id}/api-keys`, '/whoami', '/events'].map(
    (path) => `/admin/v1${path}`,
  );
}
