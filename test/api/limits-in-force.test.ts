// class: app
/** What is left of limits, as parents and operators see it. */
import t from 'tap';
import { limitsInForce } from '../../src/api/rest/limits-in-force.ts';
import { awayFromMidnight } from '../support/away-from-midnight.ts';
import { startReplicas } from '../support/replicas.ts';

interface InForce {
  readonly limited: string;
  readonly per: string;
  readonly limit: number;
  readonly used: number;
  readonly left: number;
  readonly resets_at: string;
}

t.test('parents and operators see what is left of each limit, and take nothing by looking', async (t) => {
  await awayFromMidnight();
  const { call, operator, parent: makeParent } = await startReplicas(t);
  const parent = await makeParent();
  const sub = await parent.create({ name: 'Sub', external_id: 'sub', limits: { requests_per_month: 10 } });
  const minted = await parent.call('POST', `/${sub.id}/api-keys`, {
    body: { name: 'k', limits: { requests_per_minute: 600 } },
  });
  const [key, keyId] = [String(minted.body['api_key']), String(minted.body['id'])];
  t.match(await parent.call('GET', '/caller'), { body: { limits_in_force: [] } }, 'without a limit');
  await operator('PATCH', `/accounts/${parent.id}`, { body: { limits: { requests_per_day: 1_000 } } });
  for (let i = 0; i < 3; i++) t.equal((await call('GET', '/x', { key })).status, 200);

  // A replica reports what it used a moment later.
  for (let used = 0; used < 3;) {
    const { body } = await parent.call('GET', `/${sub.id}/limits`);
    used = Math.min(...(body['data'] as InForce[]).map((each) => each.used));
  }
  const ofKey = { limited: 'api_key', per: 'minute', limit: 600 };
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
    const [, month, day] = bySub.body['data'] as [InForce, InForce, InForce];
    t.match(day.resets_at, /T00:00:00\.000Z$/, 'the end of a day');
    t.match(month.resets_at, /-01T00:00:00\.000Z$/, 'the end of a month');
  }

  await parent.call('PATCH', `/${sub.id}`, { body: { limits: { requests_per_month: 2 } } });
  const over = { ...ofSub, limit: 2, used: 2, left: 0 };
  t.match(await parent.call('GET', `/${sub.id}/limits`), { body: { data: [over, ofParent] } });
  t.match(await call('GET', '/x', { key }), { status: 429, body: { limited: 'sub_account' } });
});

t.test('a day ends at midnight whatever part of a second it is', async (t) => {
  const midnightMs = Date.UTC(2026, 10, 29);
  const state = {
    ...({
      kind: 'parent',
      period: 'day',
      unit: 'requests',
      quota: 10,
      windowS: 86_400,
      remaining: 10,
    } as const),
    // As it was 5.001 s before.
    resetS: 6,
  };
  for (const leftMs of [5_001, 5_000, 4_999, 4_000, 3]) {
    const rateLimiter = { look: async () => [state] };
    const [shown] = await limitsInForce([], { rateLimiter, clock: { wallMs: () => midnightMs - leftMs } });
    t.equal(shown?.resets_at, '2026-11-29T00:00:00.000Z');
  }
});

t.test('the limits of others are not found, whatever names them', async (t) => {
  const { operator, parent: makeParent } = await startReplicas(t);
  const [parent, other] = [await makeParent(), await makeParent()];
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
  const narrow = await makeParent(['sub_accounts:write']);
  t.equal((await narrow.call('GET', `/${own.id}/limits`)).status, 403);
  t.equal((await operator('GET', `/accounts/${parent.keyId}/limits`)).status, 404);
  t.equal((await operator('GET', `/accounts/${parent.id}/limits?key_id=${String(key)}`)).status, 404);
});
