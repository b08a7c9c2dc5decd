// class: app
/** What a proxied request meets where its key, its sub-account or its parent has limits. */
import t from 'tap';
import type { KeyFact } from '../../src/ports/facts.ts';
import type { RawResponse } from '../support/raw-client.ts';
import { eventually, startGateway, startProxied } from '../support/gateway.ts';
import { OneReplicaLimiter } from '../support/one-replica-limiter.ts';
import { unusedPort } from '../servers/unused-port.mjs';
import { startRawUpstream, startUpstream } from '../support/upstreams.ts';

/** What a response says of limits. */
function limitsIn({ headers }: Pick<RawResponse, 'headers'>): (string | undefined)[] {
  return [headers['ratelimit-policy'], headers['ratelimit']];
}

const none = [undefined, undefined];

for (const client of ['native', 'undici'] as const) {
  t.test(`without a limit nothing is counted, and an upstream says what it likes (${client})`, async (t) => {
    const upstream = await startUpstream(t, (_request, response) => {
      response.writeHead(200, { RateLimit: '"its own";r=1', 'X-RateLimit-Limit': '7' }).end();
    });
    const rateLimiter = new OneReplicaLimiter();
    const { call } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, client } },
      rateLimiter,
    });
    const { status, headers } = await call('GET', '/');
    t.match({ status, headers }, { status: 200, headers: { ratelimit: '"its own";r=1' } });
    t.equal(headers['x-ratelimit-limit'], '7');
    t.equal(rateLimiter.taken, 0);
  });

  t.test(`one unit is taken when a request is handed over, none without room (${client})`, async (t) => {
    const upstream = await startUpstream(t, (_request, response) => {
      response.writeHead(200, { RateLimit: '"its own";r=1', 'ratelimit-policy': '"its own";q=1' }).end();
    });
    const rateLimiter = new OneReplicaLimiter();
    const { call, directory, parent, finished } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, client } },
      rateLimiter,
    });
    directory.limitKey(parent, { requestsPerSecond: 2 });
    const first = await call('GET', '/');
    t.equal(first.status, 200);
    t.same(limitsIn(first), ['"api_key";q=2;w=1', '"api_key";r=1;t=1'], 'in place of the upstream’s');
    t.same(limitsIn(await call('POST', '/', { body: 'x' })), ['"api_key";q=2;w=1', '"api_key";r=0;t=1']);
    const full = await call('GET', '/');
    t.equal(full.status, 429);
    t.match(full.json(), { code: 'rate_limited', limited: 'api_key', detail: /This API key/ });
    t.equal(full.headers['retry-after'], '1');
    t.same(limitsIn(full), ['"api_key";q=2;w=1', '"api_key";r=0;t=1']);
    t.equal(upstream.heads, 2, 'it was not sent');
    t.match(finished.at(-1), { status: 429, code: 'rate_limited', limit: 'api_key' });
    rateLimiter.nowS = 1;
    t.equal((await call('GET', '/')).status, 200);
  });
}

t.test('what is rejected for another reason counts against no limit', async (t) => {
  const upstream = await startUpstream(t);
  const rateLimiter = new OneReplicaLimiter();
  const { call, directory, parent } = await startGateway(t, {
    routes: {
      '/': { upstream: upstream.url, scopes: { read: null, write: 'orders:write' } },
      '/pass': { upstream: upstream.url, preflight: 'pass' },
    },
    rateLimiter,
  });
  directory.limitAccount(parent, { requestsPerSecond: 1, requestsPerMonth: 9 });
  for (const response of [
    await call('GET', '/', { key: 'nonsense' }),
    await call('POST', '/'),
    await call('GET', '/', { headers: [['X-Service-Acting-Tenant', 'ext:none']] }),
    await call('GET', '/a/../b'),
  ]) {
    t.ok(response.status >= 400 && response.status !== 429, String(response.status));
    t.same(limitsIn(response), none);
  }
  const preflight = await call('OPTIONS', '/pass', {
    key: null,
    headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'GET' },
  });
  t.equal(preflight.status, 200);
  t.equal(rateLimiter.taken, 0);
});

t.test('a request counts for its key, sub-account and parent: all are taken or none', async (t) => {
  const { call, directory, parent } = await startProxied(t, { rateLimiter: new OneReplicaLimiter() });
  const child = directory.addSubAccount(parent, 'child');
  const other = directory.addSubAccount(parent, 'other');
  const as = (acting: string): [string, string][] => [['X-Service-Acting-Tenant', acting]];
  directory.limitAccount(parent, { requestsPerMonth: 5 });
  directory.limitAccount(child, { requestsPerSecond: 4 });

  // The sub-account's own key, then its parent's: both count for the sub-account, and for the parent.
  t.same(limitsIn(await call('GET', '/', { key: child.key })), [
    '"sub_account";q=4;w=1',
    '"sub_account";r=3;t=1',
  ]);
  t.same(
    limitsIn(await call('GET', '/', { headers: as('ext:child') })),
    ['"sub_account";q=4;w=1', '"sub_account";r=2;t=1'],
    'the scarcest of what the caller may see: 2 of 4, and not 3 of 5',
  );
  t.same(limitsIn(await call('GET', '/', { headers: as('self') })), [
    '"parent-month";q=5;w=2592000',
    '"parent-month";r=2;t=2592000',
  ]);
  t.same(
    limitsIn(await call('GET', '/', { key: other.key })),
    none,
    'it is counted, and not told the figures',
  );
  t.equal((await call('GET', '/', { headers: as('ext:other') })).status, 200);

  const full = await call('GET', '/', { key: child.key });
  t.match(full.json(), { code: 'quota_exceeded', limited: 'parent' });
  t.ok(Number(full.headers['retry-after']) > 0);
  t.same(limitsIn(full), ['"sub_account";q=4;w=1', '"sub_account";r=2;t=1'], 'nothing of the parent’s');
  const silent = await call('GET', '/', { key: other.key });
  t.match(silent.json(), { code: 'quota_exceeded', limited: 'parent' });
  t.same(limitsIn(silent), none);

  directory.limitAccount(parent, null);
  t.same(
    limitsIn(await call('GET', '/', { key: child.key })),
    ['"sub_account";q=4;w=1', '"sub_account";r=1;t=1'],
    'what was refused took nothing of the sub-account',
  );
});

t.test(
  'a quota whose store did not answer is rate_limited, unconfirmed, and says nothing of what is left',
  async (t) => {
    const guess = {
      full: true,
      confirmed: false,
      kind: 'parent',
      period: 'month',
      unit: 'requests',
    } as const;
    const rateLimiter = { take: () => ({ ...guess, retryAfterS: 1, scarcest: null }), look: async () => [] };
    const { call, directory, parent, finished } = await startProxied(t, { rateLimiter });
    directory.limitAccount(parent, { requestsPerMonth: 1 });
    const full = await call('GET', '/');
    t.match(full, { status: 429, headers: { 'retry-after': '1' } });
    t.same(limitsIn(full), none);
    t.match(full.json(), {
      ...{ code: 'rate_limited', limited: 'parent', confirmed: false },
      detail: /may have reached its quota of requests for this month/,
    });
    t.match(finished.at(-1), { status: 429, code: 'rate_limited', limit: 'parent-month' });
  },
);

t.test('seconds are told of before months, and a key before its account', async (t) => {
  const { call, directory, parent } = await startProxied(t, { rateLimiter: new OneReplicaLimiter() });
  directory.limitKey(parent, { requestsPerSecond: 1 });
  directory.limitAccount(parent, { requestsPerSecond: 1, requestsPerMonth: 1 });
  t.equal((await call('GET', '/')).status, 200);
  t.match((await call('GET', '/')).json(), { code: 'rate_limited', limited: 'api_key' });
  directory.limitKey(parent, null);
  t.match((await call('GET', '/')).json(), { code: 'rate_limited', limited: 'parent' });
  directory.limitAccount(parent, { requestsPerMonth: 1 });
  t.match((await call('GET', '/')).json(), { code: 'quota_exceeded', limited: 'parent' });
  directory.limitAccount(parent, { requestsPerMinute: 1, requestsPerDay: 1 });
  t.same(limitsIn(await call('GET', '/')), ['"parent-minute";q=1;w=60', '"parent-minute";r=0;t=60']);
  t.match((await call('GET', '/')).json(), { code: 'rate_limited', detail: /requests per minute/ });
  directory.limitAccount(parent, { requestsPerDay: 1 });
  t.match((await call('GET', '/')).json(), { code: 'quota_exceeded', detail: /requests for this day/ });
});

for (const client of ['native', 'undici'] as const)
  t.test(`if the upstream fails, requests are counted and limited all the same (${client})`, async (t) => {
    const cutting = await startRawUpstream(t, () => (request) => void request.socket.destroy());
    for (const upstream of [cutting.url, `http://127.0.0.1:${await unusedPort()}`]) {
      const rateLimiter = new OneReplicaLimiter();
      const { call, directory, parent, finished, usage } = await startGateway(t, {
        routes: { '/': { upstream, client } },
        rateLimiter,
      });
      directory.limitKey(parent, { requestsPerSecond: 2 });
      const failed = await call('GET', '/');
      t.equal(failed.status, 502);
      t.same(limitsIn(failed), ['"api_key";q=2;w=1', '"api_key";r=1;t=1']);
      t.equal((await call('POST', '/', { body: 'x' })).status, 502);
      const full = await call('GET', '/');
      t.match(full, { status: 429, headers: { 'retry-after': '1' } });
      t.match(full.json(), { code: 'rate_limited', limited: 'api_key' });
      t.match(finished.at(-1), { status: 429, code: 'rate_limited', limit: 'api_key' });
      t.same([rateLimiter.taken, usage.length], [2, 2], 'what is counted is what was taken');
    }
  });

t.test('a request that waited for a connection counts once, by the limits when it is sent', async (t) => {
  const held: (() => void)[] = [];
  const upstream = await startUpstream(t, (_request, response) => void held.push(() => response.end()));
  const rateLimiter = new OneReplicaLimiter();
  const { call, directory, parent, dial, requestOf } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 1 } },
    rateLimiter,
  });
  directory.limitKey(parent, { requestsPerSecond: 2 });
  const first = call('GET', '/first');
  await eventually(() => held.length === 1, 'the first request');
  const waiting = await dial(requestOf('GET', '/second'));
  const decisions = directory.decisions;
  await eventually(
    () => directory.decisions > decisions || directory.decisions >= 2,
    'the decision about it',
  );
  t.equal(rateLimiter.taken, 1);
  // Something else changes for the worse and back, so that it is decided again.
  directory.rename(parent, 'renamed');
  held.shift()?.();
  t.equal((await first).status, 200);
  await eventually(() => held.length === 1, 'the second request');
  t.equal(rateLimiter.taken, 2);

  const third = call('GET', '/third');
  const before = directory.decisions;
  await eventually(() => directory.decisions > before, 'the decision about the third');
  directory.limitKey(parent, { requestsPerSecond: 2, requestsPerMonth: 1 });
  held.shift()?.();
  await waiting.until(() => waiting.text.includes('HTTP/1.1 200'));
  t.match((await third).json(), { code: 'rate_limited' });
  directory.limitKey(parent, { requestsPerSecond: 3 });
  const fourth = call('GET', '/fourth');
  await eventually(() => held.length === 1, 'the fourth request');
  held.shift()?.();
  t.same(limitsIn(await fourth), ['"api_key";q=3;w=1', '"api_key";r=0;t=1']);
});

t.test('a request that asked a store for units goes on by the facts as they are then', async (t) => {
  const answers: (() => void)[] = [];
  const rateLimiter = new OneReplicaLimiter((answer) => void answers.push(answer));
  const { upstream, call, directory, parent, finished, dial, requestOf } = await startProxied(t, {
    rateLimiter,
  });
  directory.limitKey(parent, { requestsPerSecond: 3 });
  const asked = (count: number) => eventually(() => answers.length === count, `${count} questions`);
  const next = (): void => answers.shift()?.();

  const first = call('POST', '/', { body: 'x' });
  await asked(1);
  t.equal(upstream.heads, 0, 'it waits');
  next();
  t.same(limitsIn(await first), ['"api_key";q=3;w=1', '"api_key";r=2;t=1']);

  const revoked = call('GET', '/');
  await asked(1);
  const key = directory.facts.get(parent.keyKey) as KeyFact;
  directory.revoke([parent.keyKey, { ...key, revoked: true }]);
  next();
  t.equal((await revoked).status, 401, 'the key was revoked meanwhile');
  t.equal(rateLimiter.taken, 1, 'its unit is given back');
  directory.facts.set(parent.keyKey, key);

  const leaving = await dial(requestOf('GET', '/'));
  await asked(1);
  leaving.socket.destroy();
  await eventually(() => finished.at(-1)?.code === 'client_gone', 'its end');
  next();
  t.equal(rateLimiter.taken, 1, 'the client left: its unit is given back');

  for (let i = 0; i < 2; i++) {
    const more = call('GET', '/');
    await asked(1);
    next();
    t.equal((await more).status, 200);
  }
  const full = call('GET', '/');
  await asked(1);
  next();
  t.match((await full).json(), { code: 'rate_limited' });
});

t.test('without room a request is refused at once; one that gets no connection costs nothing', async (t) => {
  const held: (() => void)[] = [];
  const upstream = await startUpstream(t, (_request, response) => void held.push(() => response.end()));
  const rateLimiter = new OneReplicaLimiter();
  const { call, directory, parent } = await startGateway(t, {
    routes: {
      '/': {
        upstream: upstream.url,
        connections: 1,
        timeouts: { connectMs: 2_000, headersMs: 30_000, bodyMs: 30_000 },
      },
    },
    rateLimiter,
  });
  directory.limitKey(parent, { requestsPerSecond: 2 });
  const first = call('GET', '/first');
  await eventually(() => held.length === 1, 'the first request');
  const second = call('GET', '/second');
  await eventually(() => rateLimiter.taken === 2, 'the second, which waits for the connection');
  t.match((await call('GET', '/third')).json(), { code: 'rate_limited' });
  t.match((await second).json(), { code: 'too_many_requests' });
  t.equal(rateLimiter.taken, 1);
  held.shift()?.();
  t.equal((await first).status, 200);
});
