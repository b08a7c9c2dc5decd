// class: app
import t from 'tap';
import type { CorsConfig } from '../../../src/config.ts';
import { headerNames } from '../../../src/domain/header-names.ts';
import { cachingOf } from '../../../src/proxy/headers/caching.ts';
import { responseHeaderFilter } from '../../../src/proxy/headers/response-headers.ts';
import { startGateway } from '../../support/gateway.ts';
import { startUpstream } from '../../support/upstreams.ts';

const cors: CorsConfig = {
  ...{ origins: ['https://app.example'], headers: [], expose: [], credentials: false, maxAgeMs: 1_000 },
};
const acting = 'X-Acme-Acting-Tenant, Authorization, X-API-Key';
const stream = [['Content-Type', 'text/event-stream']] as const;
type Fields = readonly (readonly [name: string, value: string])[];

/** Route, status and headers of the upstream; then the `Vary`, the `Cache-Control` and the other headers for the client. */
const table: readonly (readonly [
  route: keyof typeof filters,
  status: number,
  said: Fields,
  vary: string | undefined,
  control: string | undefined,
  others?: Fields,
])[] = [
  // Vary.
  ['deny', 200, [], acting, 'private'],
  ['deny', 304, [], acting, 'private'],
  ['deny', 404, [], acting, 'private'],
  ['deny', 200, [['Vary', 'Accept']], `${acting}, Accept`, 'private'],
  [
    'deny',
    200,
    [
      ['vary', 'Accept'],
      ['VARY', ' ,a,,authorization, x-api-key'],
    ],
    'X-Acme-Acting-Tenant, authorization, x-api-key, Accept, a',
    'private',
  ],
  ['deny', 200, [['Vary', '*']], '*', 'private'],
  ['deny', 200, [['Vary', 'Accept, *']], '*', 'private'],
  [
    'deny',
    200,
    [
      ['Vary', '"Accept'],
      ['Connection', 'vary'],
    ],
    `${acting}, "Accept`,
    'private',
  ],
  ['cors', 200, [['Vary', 'origin, Accept']], `${acting}, origin, Accept`, 'private'],
  // An interim response, and a change of protocols.
  [
    'deny',
    103,
    [
      ['Vary', 'Accept'],
      ['Cache-Control', 'public'],
    ],
    undefined,
    undefined,
  ],
  ['deny', 101, [['Vary', 'Accept']], undefined, undefined],
  // Cache-Control.
  ...(
    [
      ['', 'private'],
      ['max-age=60', 'private, max-age=60'],
      ['public, max-age=60', 'private, max-age=60'],
      ['Public ,S-MaxAge=60,max-age=60', 'private, max-age=60'],
      ['public', 'private'],
      ['s-maxage = 60, s-maxage', 'private'],
      ['private', 'private'],
      ['max-age=60, Private', 'max-age=60, Private'],
      ['no-store, public', 'no-store'],
      ['no-cache', 'private, no-cache'],
      ['private="set-cookie", max-age=60', 'private, private="set-cookie", max-age=60'],
      ['x="a, private, b", max-age=60', 'private, x="a, private, b", max-age=60'],
      ['x="a\\", private, b"', 'private, x="a\\", private, b"'],
      ['x="a, private', 'private, x="a, private'],
      ['x="a, private\\', 'private, x="a, private\\'],
      ['x="a", public, private', 'x="a", private'],
      ['private=, no-store=', 'private, private=, no-store='],
      ['notpublic, s-maxages=1', 'private, notpublic, s-maxages=1'],
    ] as const
  ).map(([said, control]) => ['deny', 200, [['Cache-Control', said]], acting, control] as const),
  [
    'deny',
    200,
    [
      ['cache-control', 'max-age=1'],
      ['Cache-Control', 'no-store'],
    ],
    acting,
    'max-age=1, no-store',
  ],
  [
    'deny',
    200,
    [
      ['Cache-Control', 'public'],
      ['Connection', 'cache-control'],
    ],
    acting,
    'private',
  ],
  // Headers for shared caches alone.
  ...[
    ...['CDN-Cache-Control', 'Cloudflare-CDN-Cache-Control', 'Surrogate-Control', 'Edge-Control'],
    ...['X-Accel-Expires', 'x_accel.expires', 'CDN_Cache_Control', 'Cache_Control', 'surrogate_control'],
  ].flatMap(
    (name) =>
      [
        ['deny', 200, [[name, 'max-age=60']], acting, 'private'],
        ['allow', 200, [[name, 'max-age=60']], acting, undefined, [[name, 'max-age=60']]],
        ['open', 200, [[name, 'max-age=60']], undefined, undefined, [[name, 'max-age=60']]],
      ] as const,
  ),
  ['deny', 200, [['X-Accel-Buffering', 'no']], acting, 'private', [['X-Accel-Buffering', 'no']]],
  // With `allow`, and without a key.
  ['allow', 200, [['Cache-Control', 'public, s-maxage=60']], acting, 'public, s-maxage=60'],
  ['allow', 304, [], acting, undefined],
  [
    'open',
    200,
    [
      ['Cache-Control', 'public'],
      ['Vary', 'Accept'],
    ],
    'Accept',
    'public',
  ],
  ['openCors', 200, [['Cache-Control', 'public']], 'Origin', 'public'],
  ['deny', 200, [['Cache-Control', 'no-cache'], ...stream], acting, 'private, no-cache', stream],
  ['allow', 200, [['Cache-Control', 'no-cache'], ...stream], acting, 'no-cache', stream],
];

const names = headerNames('X-Acme-', ['X-API-Key']);
const open = { perSecond: 1 };
const filters = {
  deny: filterOf({ open: null, cors: null, sharedCache: 'deny' }),
  allow: filterOf({ open: null, cors: null, sharedCache: 'allow' }),
  cors: filterOf({ open: null, cors, sharedCache: 'deny' }),
  open: filterOf({ open, cors: null, sharedCache: 'deny' }),
  openCors: filterOf({ open, cors, sharedCache: 'deny' }),
};

function filterOf(route: Parameters<typeof cachingOf>[0]) {
  return responseHeaderFilter(names, null, cachingOf(route, names));
}

t.test('what a response says to caches, by route and by what the upstream said', async (t) => {
  for (const [route, status, said, vary, control, others = []] of table) {
    const { headers } = filters[route].headers(status, said.flat(), 'id', null);
    const given = headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1]] as const] : []));
    const valuesOf = (name: string) =>
      given.filter((each) => each[0].toLowerCase() === name).map(([, v]) => v);
    const what = `${route} ${status} ${JSON.stringify(said)}`;
    t.same(valuesOf('vary'), vary === undefined ? [] : [vary], `Vary: ${what}`);
    t.same(valuesOf('cache-control'), control === undefined ? [] : [control], `Cache-Control: ${what}`);
    const rest = given.filter(
      ([name]) => !['vary', 'cache-control', 'x-request-id'].includes(name.toLowerCase()),
    );
    t.same(rest, others, `others: ${what}`);
    t.same(
      filters[route].trailers(said.flat()).filter((text) => /^(?:vary|cache-control)$/i.test(text)),
      [],
    );
  }
});

for (const client of ['native', 'undici'] as const)
  t.test(`${client}: every kind of response says who may keep it`, async (t) => {
    const said = 'public, max-age=60';
    const upstream = await startUpstream(t, ({ target }, response) => {
      response.statusCode = target === '/api/unchanged' ? 304 : target === '/api/gone' ? 410 : 200;
      response.setHeader('cache-control', said).end();
    });
    const { call, dial, directory, parent } = await startGateway(t, {
      routes: {
        '/api': { upstream: upstream.url, client },
        '/pages': { upstream: upstream.url, client, cors },
        '/scoped': { upstream: upstream.url, client, scopes: { read: 'some:thing', write: null } },
        '/away': { upstream: 'http://127.0.0.1:1', client },
        '/open': { upstream: upstream.url, client, open },
      },
    });
    directory.addSubAccount(parent, 'ada');
    const vary = 'X-Service-Acting-Tenant, Authorization';
    const kept = 'private, max-age=60';
    const upgrade = [
      ...([
        ['Connection', 'Upgrade'],
        ['Upgrade', 'websocket'],
        ['Sec-WebSocket-Version', '13'],
      ] as const),
      ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
    ] as const;
    const preflight = [
      ['Origin', 'https://app.example'],
      ['Access-Control-Request-Method', 'GET'],
    ] as const;
    for (const [status, method, target, options, control, varies] of [
      [200, 'GET', '/api', {}, kept, vary],
      [200, 'HEAD', '/api', {}, kept, vary],
      [304, 'GET', '/api/unchanged', {}, kept, vary],
      [410, 'GET', '/api/gone', {}, kept, vary],
      [200, 'GET', '/pages', {}, kept, `${vary}, Origin`],
      [200, 'GET', '/api', { headers: upgrade }, kept, vary],
      [200, 'GET', '/open', { key: null }, said, undefined],
      [204, 'OPTIONS', '/pages', { key: null, headers: preflight }, undefined, 'Origin'],
      [401, 'GET', '/api', { key: null }, 'no-store', vary],
      [401, 'GET', '/pages', { key: null }, 'no-store', `${vary}, Origin`],
      [403, 'GET', '/scoped', {}, 'no-store', vary],
      [400, 'POST', '/api', {}, 'no-store', vary],
      [405, 'TRACE', '/api', {}, 'no-store', vary],
      [502, 'GET', '/away', {}, 'no-store', vary],
      [404, 'GET', '/nowhere', {}, 'no-store', undefined],
      [400, 'GET', '/api/%2e%2e/x', {}, 'no-store', undefined],
      [404, 'GET', '/v1/sub-accounts/x/y/z', {}, 'no-store', undefined],
      [405, 'PUT', '/v1/sub-accounts', {}, 'no-store', undefined],
      [200, 'GET', '/v1/sub-accounts/openapi.json', { key: null }, 'no-cache', 'Accept-Encoding'],
    ] as const) {
      const { headers, status: seen } = await call(method, target, options);
      const what = `${method} ${target} ${JSON.stringify(options)}`;
      t.equal(seen, status, what);
      t.equal(headers['cache-control'], control, what);
      t.equal(headers['vary'], varies, what);
    }
    const malformed = await (await dial('GET /api HTTP/1.1\r\nHost : a\r\n\r\n')).response();
    t.match(malformed, { status: 400, headers: { 'cache-control': 'no-store' } });
  });
