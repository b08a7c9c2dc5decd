// class: app
/** What is left of limits, as parents and operators see it. */
import t from 'tap';
import { limitsInForce } from '../../src/api/rest/limits-in-force.ts';
import { noLimits, type LimitKind, type Limits } from '../../src/domain/limits/limits.ts';
import type { LimitedBy } from '../../src/ports/limits/rate-limiter.ts';
import { startApis } from '../support/apis.ts';
import { OneReplicaLimiter } from '../support/one-replica-limiter.ts';

t.test('parents and operators see what is left of each limit, and take nothing by looking', async (t) => {
  const rateLimiter = new OneReplicaLimiter();
  const clock = { wallMs: () => Date.UTC(2026, 10, 17, 12), monotonicMs: () => 0 };
  const apis = await startApis(t, { clock, deps: { rateLimiter } });
  const { operator } = apis;
  const parent = await apis.parent();
  const limits = { requests_per_month: 10 };
  const sub = await parent.create({ name: 'Sub', external_id: 'sub', limits });
  const minted = await parent.call('POST', `/${sub.id}/api-keys`, {
    body: { name: 'k', limits: { requests_per_minute: 600 } },
  });
  const keyId = String(minted.body['id']);
  t.match(await parent.call('GET', '/caller'), { body: { limits_in_force: [] } }, 'without a limit');
  await operator('PATCH', `/accounts/${parent.id}`, { body: { limits: { requests_per_day: 1_000 } } });
  const limitedBy = (kind: LimitKind, id: string, set: Partial<Limits>): LimitedBy => {
    return { kind, id, shown: true, limits: { ...noLimits, ...set } };
  };
  const all = [
    limitedBy('sub_account', sub.id, { requestsPerMonth: 10 }),
    limitedBy('parent', parent.id, { requestsPerDay: 1_000 }),
  ];
  for (let i = 0; i < 3; i++) rateLimiter.take(all, () => undefined);
  const ofKey = { limited: 'api_key', per: 'minute', limit: 600, used: 0, left: 600 };
  const ofSub = { limited: 'sub_account', per: 'month', limit: 10, used: 3, left: 7 };
  const ofParent = { limited: 'parent', per: 'day', limit: 1_000, used: 3, left: 997 };
  for (let i = 0; i < 3; i++) {
    const shown = await parent.call('GET', `/${sub.id}/limits?key_id=${keyId}`);
    t.match(shown, { status: 200, body: { data: [ofKey, ofSub, ofParent] } });
    t.match(await parent.call('GET', `/${sub.id}/limits`), { body: { data: [ofSub, ofParent] } });
    t.match(await parent.call('GET', '/caller'), { body: { limits_in_force: [ofParent] } });
    t.match(await operator('GET', `/accounts/${parent.id}/limits`), { body: { data: [ofParent] } });
    const bySub = await operator('GET', `/accounts/${sub.id}/limits?key_id=${keyId}`);
    t.match(bySub, { status: 200, body: { data: [ofKey, ofSub, ofParent] } });
  }
  t.equal(rateLimiter.taken, 3);
  await parent.call('PATCH', `/${sub.id}`, { body: { limits: { requests_per_month: 2 } } });
  const over = { ...ofSub, limit: 2, used: 2, left: 0 };
  t.match(await parent.call('GET', `/${sub.id}/limits`), { body: { data: [over, ofParent] } });
});

t.test('days and months end at midnight whatever part of a second it is', async (t) => {
  const end = '2026-12-01T00:00:00.000Z';
  for (const period of ['day', 'month'] as const) {
    const limit = { kind: 'parent', period, unit: 'requests', quota: 10, windowS: 86_400 } as const;
    // As it was 5.001 s before.
    const rateLimiter = { look: async () => [{ ...limit, remaining: 10, resetS: 6 }] };
    for (const leftMs of [5_001, 5_000, 4_999, 4_000, 3]) {
      const clock = { wallMs: () => Date.parse(end) - leftMs };
      t.match(await limitsInForce([], { rateLimiter, clock }), [{ resets_at: end }]);
    }
  }
});

t.test('the limits of others are not found, whatever names them', async (t) => {
  const apis = await startApis(t);
  const { operator } = apis;
  const [parent, other] = [await apis.parent(), await apis.parent()];
  const [own, foreign] = [await parent.create({ name: 'A' }), await other.create({ name: 'B' })];
  const key = (await other.call('POST', `/${foreign.id}/api-keys`, { body: { name: 'k' } })).body['id'];
  for (const path of [
    `/${foreign.id}/limits`,
    `/${other.id}/limits`,
    '/x/limits',
    `/${own.id}/limits?key_id=${String(key)}`,
    `/${own.id}/limits?key_id=${parent.keyId}`,
    `/${own.id}/limits?key_id=x`,
  ]) {
    t.match(await parent.call('GET', path), { status: 404, body: { code: 'not_found' } }, path);
  }
  t.equal((await operator('GET', `/accounts/${parent.keyId}/limits`)).status, 404);
  t.equal((await operator('GET', `/accounts/${parent.id}/limits?key_id=${String(key)}`)).status, 404);
});
