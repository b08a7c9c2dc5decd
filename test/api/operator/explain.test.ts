// class: app
/** What an explanation says beside the decision. That it agrees with the decision is held by `test/e2e/explain.test.ts`. */
import t from 'tap';
import { startReplicas } from '../../support/replicas.ts';

/** Before any gateway was there. */
const began = performance.now();

interface Facts {
  readonly replica_id: string;
  readonly applied: number;
  readonly age_ms: number;
}

const {
  call,
  operator,
  parent: makeParent,
} = await startReplicas(
  t,
  'routes: [{prefix: /login, upstream: "http://127.0.0.1:1", authentication: none, open_per_second: 5}]',
);
const explain = (key_id: unknown, path: string, more: object = {}) =>
  operator('POST', '/explain', { body: { key_id, method: 'GET', path, ...more } });

t.test('an open route', async (t) => {
  const { id, keyId } = await makeParent();
  const { body } = await explain(keyId, '/login/x', { method: 'POST', acting_tenant: id });
  t.match(body, { allowed: true, acts_as: null, reason: null, caller: null, request: { route: '/login' } });
  t.match(body['because'], /no key is checked/);
});

t.test('how new its facts are: every change that was answered is in them', async (t) => {
  const { id, keyId } = await makeParent();
  const factsOf = async (path: string) => (await explain(keyId, path)).body['facts'] as Facts | null;
  const { body: own } = await operator('GET', '/whoami');
  for (const path of ['/orders', '/v1/sub-accounts']) {
    await operator('POST', `/accounts/${id}/suspend`);
    const before = Number((await operator('GET', '/replicas')).body['position']);
    const facts = await factsOf(path);
    t.equal(facts?.replica_id, own['replica_id']);
    t.ok(facts && facts.applied >= before, `${facts?.applied} of ${before}`);
    t.ok(facts && facts.age_ms >= 0 && facts.age_ms < performance.now() - began, `${facts?.age_ms} ms`);
    await operator('POST', `/accounts/${id}/resume`);
    t.ok(((await factsOf(path))?.applied ?? 0) > (facts?.applied ?? 0), 'the next change moves it');
  }
  for (const path of ['/login', '/a/../b']) t.equal(await factsOf(path), null, `${path} uses no facts`);
});

t.test('keys that decide nothing', async (t) => {
  const { id, keyId } = await makeParent();
  await operator('POST', `/accounts/${id}/api-keys/${keyId}/revoke`);
  const revoked = await explain(keyId, '/');
  t.match(revoked.body, { allowed: false, status: 401, reason: 'api_key_revoked', caller: null });
  t.notMatch(JSON.stringify(revoked.body), /digest/);
  t.equal((await explain(id, '/')).status, 404);
  t.equal((await explain('x', 'x', { method: 'TRACE' })).status, 400);
});

t.test(
  'the limits that a request would count against are shown with what is left, and nothing is taken',
  async (t) => {
    const parent = await makeParent();
    const sub = await parent.create({ name: 'Sub', external_id: 'sub' });
    const minted = await parent.call('POST', `/${sub.id}/api-keys`, {
      body: { name: 'k', limits: { requests_per_second: 1_000 } },
    });
    const key = String(minted.body['api_key']);
    t.same((await explain(parent.keyId, '/x')).body['limits'], [], 'none');
    await operator('PATCH', `/accounts/${parent.id}`, { body: { limits: { requests_per_month: 1 } } });
    const month = { limited: 'parent', per: 'month', quota: 1, remaining: 1 };
    const second = { limited: 'api_key', per: 'second', quota: 1_000, remaining: 1_000 };
    for (let i = 0; i < 3; i++)
      t.match((await explain(minted.body['id'], '/x')).body, { allowed: true, limits: [second, month] });
    t.equal((await call('GET', '/x', { key })).status, 200);
    const then = await call('GET', '/x', { key });
    t.match(then, { status: 429, body: { code: 'quota_exceeded', limited: 'parent' } });
  },
);
