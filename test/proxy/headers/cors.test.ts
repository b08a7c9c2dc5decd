// class: app
import t from 'tap';
import type { CorsConfig } from '../../../src/config.ts';
import { startGateway, startProxied } from '../../support/gateway.ts';
import { OneReplicaLimiter } from '../../support/one-replica-limiter.ts';
import { startUpstream } from '../../support/upstreams.ts';

const app = 'https://app.example';
const cors: CorsConfig = {
  origins: [app, 'http://localhost:5173'],
  headers: ['Authorization', 'Content-Type', 'X-Service-Acting-Tenant'],
  expose: ['X-Request-Id', 'Retry-After'],
  credentials: false,
  maxAgeMs: 600_000,
};

function preflight(origin: string, method: string): [string, string][] {
  return [
    ['Origin', origin],
    ['Access-Control-Request-Method', method],
    ['Access-Control-Request-Headers', 'authorization, content-type'],
  ];
}

/** The `Vary` of each response but a preflight's. */
const vary = 'X-Service-Acting-Tenant, Authorization, Origin';

/** What a response says about CORS. */
function granted(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith('access-control-') || name === 'vary'),
  );
}

t.test('a preflight is responded to before a key is asked for, for every served method', async (t) => {
  const upstream = await startUpstream(t);
  const { call, usage, finished } = await startGateway(t, {
    // It overrides `preflight`.
    routes: { '/': { upstream: upstream.url, cors, preflight: 'pass' } },
  });
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    const response = await call('OPTIONS', '/x', { key: null, headers: preflight(app, method) });
    t.equal(response.status, 204, method);
    t.strictSame(granted(response.headers), {
      vary: 'Origin',
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'Authorization, Content-Type, X-Service-Acting-Tenant',
      'access-control-max-age': '600',
    });
    t.match(response.headers['x-request-id'], /^[0-9a-f]{32}$/);
    t.notOk('content-length' in response.headers, 'a 204 states no length');
  }
  t.equal(upstream.heads, 0);
  t.equal(usage.length, 0);
  t.match(finished.at(-1), { method: 'OPTIONS', route: '/', status: 204, code: null, keyId: null });
});

t.test('an OPTIONS that carries a key in a header of its own is no preflight', async (t) => {
  const upstream = await startUpstream(t);
  const { call, parent } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, cors }, '/pass': { upstream: upstream.url, preflight: 'pass' } },
    apiKeyHeaders: ['X-API-Key'],
  });
  for (const path of ['/x', '/pass']) {
    const sent = (key: string): [string, string][] => [...preflight(app, 'GET'), ['X-API-Key', key]];
    t.equal((await call('OPTIONS', path, { key: null, headers: sent(parent.key) })).status, 200, path);
    t.equal((await call('OPTIONS', path, { key: null, headers: sent('nonsense') })).status, 401, path);
  }
  t.strictSame(upstream.received.at(-1)?.values('x-service-caller-tenant'), [parent.id]);
});

t.test('an origin that is not listed gets 204, and nothing that lets its page go on', async (t) => {
  const { call } = await startProxied(t, { route: { cors } });
  for (const origin of [
    'https://evil.example',
    'null',
    `${app}.evil.example`,
    app.toUpperCase(),
    '*',
    `${app}:444`,
  ]) {
    const response = await call('OPTIONS', '/', { key: null, headers: preflight(origin, 'GET') });
    t.equal(response.status, 204, origin);
    t.strictSame(granted(response.headers), { vary: 'Origin' }, origin);
    const other = await call('GET', '/', { headers: [['Origin', origin]] });
    t.equal(other.status, 200);
    t.strictSame(granted(other.headers), { vary }, origin);
  }
  const twice = await call('OPTIONS', '/', {
    key: null,
    headers: [...preflight(app, 'GET'), ['Origin', app]],
  });
  t.strictSame(granted(twice.headers), { vary: 'Origin' }, 'an origin that was sent twice');
});

t.test('what the upstream says about CORS is replaced, and Vary names the origin once', async (t) => {
  const says: Record<string, string | string[]> = {};
  const upstream = await startUpstream(t, (_request, response) => {
    response.writeHead(200, says).end('body');
  });
  const { call } = await startGateway(t, { routes: { '/': { upstream: upstream.url, cors } } });
  for (const [said, expected] of [
    [undefined, vary],
    ['Accept-Encoding, Origin', `${vary}, Accept-Encoding`],
    ['*', '*'],
  ] as const) {
    Object.assign(says, {
      'Access-Control-Allow-Origin': '*',
      'access-control-allow-credentials': 'true',
      'Access-Control-Expose-Headers': 'X-Secret',
      'X-Kept': 'yes',
      ...(said !== undefined && { Vary: said }),
    });
    const response = await call('GET', '/', { headers: [['Origin', app]] });
    t.equal(response.body, 'body');
    t.equal(response.headers['x-kept'], 'yes');
    t.strictSame(granted(response.headers), {
      vary: expected,
      'access-control-allow-origin': app,
      'access-control-expose-headers': 'X-Request-Id, Retry-After',
    });
    const without = await call('GET', '/');
    t.strictSame(granted(without.headers), { vary: expected }, 'not to a client that is no page');
  }
});

t.test('a page may read the problems of its route, whoever found them', async (t) => {
  const { call, parent, directory } = await startGateway(t, {
    routes: {
      '/': { upstream: 'http://127.0.0.1:1', cors },
      '/scoped': { upstream: 'http://127.0.0.1:1', cors, scopes: { read: 'some:thing', write: null } },
    },
  });
  const origin: [string, string] = ['Origin', app];
  directory.addSubAccount(parent, 'child');
  for (const [status, method, target, options] of [
    [401, 'GET', '/', { key: null }],
    [403, 'GET', '/scoped', {}],
    [400, 'POST', '/', {}],
    [502, 'GET', '/', {}],
    [405, 'TRACE', '/', {}],
    [400, 'GET', '/', { headers: [['X-HTTP-Method-Override', 'DELETE']] }],
  ] as const) {
    const headers = [...('headers' in options ? options.headers : []), origin] as const;
    const response = await call(method, target, { ...options, headers });
    t.equal(response.status, status);
    t.match(response.headers['content-type'], /problem/);
    t.strictSame(granted(response.headers), {
      vary,
      'access-control-allow-origin': app,
      'access-control-expose-headers': 'X-Request-Id, Retry-After',
    });
  }
});

t.test('every origin, or the ones with cookies', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, {
    routes: {
      '/all': {
        upstream: upstream.url,
        cors: { ...cors, origins: ['*'], headers: [], expose: [], maxAgeMs: 0 },
      },
      '/cookies': { upstream: upstream.url, cors: { ...cors, credentials: true } },
    },
  });
  const all = await call('OPTIONS', '/all', { key: null, headers: preflight('https://any.example', 'GET') });
  t.strictSame(granted(all.headers), {
    vary: 'Origin',
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE',
    'access-control-max-age': '0',
  });
  for (const [method, key] of [
    ['OPTIONS', null],
    ['GET', undefined],
  ] as const) {
    const options = { headers: preflight(app, 'GET'), ...(key === null && { key }) };
    const { headers } = await call(method, '/cookies', options);
    t.equal(headers['access-control-allow-credentials'], 'true', method);
    t.equal(headers['access-control-allow-origin'], app, method);
  }
});

t.test('a route without cors leaves CORS to its upstream', async (t) => {
  const upstream = await startUpstream(t, (_request, response) => {
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end();
  });
  const { call } = await startGateway(t, {
    routes: { '/': upstream.url, '/with': { upstream: upstream.url, cors } },
  });
  const { headers } = await call('GET', '/', { headers: [['Origin', app]] });
  t.strictSame(granted(headers), {
    vary: 'X-Service-Acting-Tenant, Authorization',
    'access-control-allow-origin': '*',
  });
  t.equal((await call('OPTIONS', '/', { key: null, headers: preflight(app, 'GET') })).status, 401);
});

t.test('a page may read what is said of limits', async (t) => {
  const { call, directory, parent } = await startProxied(t, {
    route: {
      cors: {
        ...{ origins: [app], headers: [], credentials: false, maxAgeMs: 1_000 },
        expose: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
      },
    },
    rateLimiter: new OneReplicaLimiter(),
  });
  directory.limitKey(parent, { requestsPerSecond: 1 });
  for (const status of [200, 429]) {
    const response = await call('GET', '/', { headers: [['Origin', app]] });
    t.equal(response.status, status);
    t.match(response.headers, {
      'access-control-allow-origin': app,
      'access-control-expose-headers': 'Retry-After, RateLimit, RateLimit-Policy',
      ratelimit: '"api_key";r=0;t=1',
    });
  }
});
