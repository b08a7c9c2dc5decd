// class: app
import t from 'tap';
import { startReplicas } from '../../support/replicas.ts';

/** Before any gateway was there. */
const began = performance.now();

interface Facts {
  readonly replica_id: string;
  readonly applied: number;
  readonly age_ms: number;
}

interface Explanation {
  readonly allowed: boolean;
  readonly acts_as: string | null;
  readonly reason: string;
  readonly because: string;
  readonly status: number | null;
}

t.test('what is explained is what happens', async (t) => {
  const {
    call,
    operator,
    parent: makeParent,
  } = await startReplicas(
    t,
    [
      'route_defaults: { scopes: { write: "tracking:write" } }',
      'routes: [{prefix: /login, upstream: "http://127.0.0.1:1", authentication: none, open_per_second: 5}]',
    ].join('\n'),
  );
  const parent = await makeParent(['sub_accounts:read', 'sub_accounts:write', 'tracking:write']);
  const narrow = await makeParent(['sub_accounts:read']);
  const active = await parent.create({ name: 'A', external_id: 'a' });
  const deactivated = await parent.create({ name: 'B', external_id: 'b' });
  await deactivated.act('deactivate');
  const foreign = await narrow.create?.({ name: 'C' }).catch(() => null);
  t.equal(foreign, null, 'the narrow key cannot create');
  const minted = await parent.call('POST', `/${active.id}/api-keys`, {
    body: { name: 'k', scopes: ['tracking:write'] },
  });
  const sub = { key: String(minted.body['api_key']), keyId: String(minted.body['id']) };

  const callers = { parent, narrow, sub };
  const actings = [
    undefined,
    'self',
    'ext:a',
    'ext:b',
    'ext:none',
    active.id,
    deactivated.id,
    parent.id,
    '',
    'nonsense',
  ];
  const paths = ['/v1/shipments', '/v1/sub-accounts', '/a/../b', '/v1/%2e/sub-accounts'];
  let compared = 0;
  for (const [name, { key, keyId }] of Object.entries(callers)) {
    for (const acting of actings) {
      for (const path of paths) {
        for (const method of ['GET', 'POST']) {
          const what = `${name} ${method} ${path} acting ${acting}`;
          const explained = await operator('POST', '/explain', {
            body: { key_id: keyId, method, path, ...(acting === undefined ? {} : { acting_tenant: acting }) },
          });
          const { allowed, acts_as: actsAs, reason, status } = explained.body as unknown as Explanation;
          const real = await call(method, path, {
            key,
            headers: acting === undefined ? [] : [['X-Service-Acting-Tenant', acting]],
          });
          const decided = real.headers['x-service-resolved-tenant'] ?? null;
          if (allowed)
            t.same([decided, real.body['code'] === undefined || real.status === 400], [actsAs, true], what);
          else t.same([real.status, real.body['code']], [status, reason], what);
          compared += 1;
        }
      }
    }
  }
  t.equal(compared, 240);

  await t.test('an open route', async (t) => {
    const { body } = await operator('POST', '/explain', {
      body: { key_id: sub.keyId, method: 'POST', path: '/login/x', acting_tenant: parent.id },
    });
    t.match(body, { allowed: true, acts_as: null, reason: null, caller: null, request: { route: '/login' } });
    t.match(body['because'], /no key is checked/);
  });

  await t.test('how new its facts are: every change that was answered is in them', async (t) => {
    const other = await makeParent();
    const factsOf = async (path: string): Promise<Facts | null> => {
      const body = { key_id: other.keyId, method: 'GET', path };
      return (await operator('POST', '/explain', { body })).body['facts'] as Facts | null;
    };
    const { body: own } = await operator('GET', '/whoami');
    for (const path of ['/orders', '/v1/sub-accounts']) {
      await operator('POST', `/accounts/${other.id}/suspend`);
      const before = Number((await operator('GET', '/replicas')).body['position']);
      const facts = await factsOf(path);
      t.equal(facts?.replica_id, own['replica_id']);
      t.ok(facts && facts.applied >= before, `${facts?.applied} of ${before}`);
      t.ok(facts && facts.age_ms >= 0 && facts.age_ms < performance.now() - began, `${facts?.age_ms} ms`);
      await operator('POST', `/accounts/${other.id}/resume`);
      t.ok(((await factsOf(path))?.applied ?? 0) > (facts?.applied ?? 0), 'the next change moves it');
    }
    for (const path of ['/login', '/a/../b']) t.equal(await factsOf(path), null, `${path} uses no facts`);
  });

  await t.test('keys that decide nothing', async (t) => {
    await operator('POST', `/accounts/${parent.id}/api-keys/${parent.keyId}/revoke`);
    const revoked = await operator('POST', '/explain', {
      body: { key_id: parent.keyId, method: 'GET', path: '/' },
    });
    t.match(revoked.body, { allowed: false, status: 401, reason: 'api_key_revoked', caller: null });
    const unknown = await operator('POST', '/explain', {
      body: { key_id: active.id, method: 'GET', path: '/' },
    });
    t.equal(unknown.status, 404);
    const malformed = await operator('POST', '/explain', {
      body: { key_id: 'x', method: 'TRACE', path: 'x' },
    });
    t.equal(malformed.status, 400);
    t.notMatch(JSON.stringify(revoked.body), /digest/);
  });
});

t.test(
  'the limits that a request would count against are shown with what is left, and nothing is taken',
  async (t) => {
    const { call, operator, parent: makeParent } = await startReplicas(t);
    const parent = await makeParent();
    const sub = await parent.create({ name: 'Sub', external_id: 'sub' });
    const minted = await parent.call('POST', `/${sub.id}/api-keys`, {
      body: { name: 'k', limits: { requests_per_second: 1_000 } },
    });
    const key = String(minted.body['api_key']);
    const explain = async (keyId: unknown): Promise<Readonly<Record<string, unknown>>> =>
      (await operator('POST', '/explain', { body: { key_id: keyId, method: 'GET', path: '/x' } })).body;
    t.same((await explain(parent.keyId))['limits'], [], 'none');
    await operator('PATCH', `/accounts/${parent.id}`, { body: { limits: { requests_per_month: 1 } } });
    const month = { limited: 'parent', per: 'month', quota: 1, remaining: 1 };
    const second = { limited: 'api_key', per: 'second', quota: 1_000, remaining: 1_000 };
    for (let i = 0; i < 3; i++)
      t.match(await explain(minted.body['id']), { allowed: true, limits: [second, month] });
    t.equal((await call('GET', '/x', { key })).status, 200);
    const then = await call('GET', '/x', { key });
    t.match(then, { status: 429, body: { code: 'quota_exceeded', limited: 'parent' } });
  },
);
