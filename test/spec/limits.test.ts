// class: app
import t from 'tap';
import { startReplicas } from '../support/replicas.ts';

// Limits that one replica sets and another one keeps.

const { call, manage, operator, parent: newParent } = await startReplicas(t, '', 'Token');

/** Status of a request at the replica that did not make the change, and what it says of limits. */
async function sent(key: string, acting?: string): Promise<readonly [number, string | undefined, unknown]> {
  const headers: [string, string][] = acting === undefined ? [] : [['X-Service-Acting-Tenant', acting]];
  const response = await call('GET', '/x', { key, headers });
  return [
    response.status,
    response.headers['ratelimit-policy'] as string | undefined,
    response.body['limited'],
  ];
}

t.test('from the 2xx of a change on every replica keeps the new limit, and none the old one', async (t) => {
  for (let round = 0; round < 5; round++) {
    const parent = await newParent();
    const sub = await parent.create({ name: 'Sub', external_id: 'sub' });
    const key = await sub.mint([]);
    t.same(await sent(key), [200, undefined, undefined], 'it is in memory, without limits');
    const limits = { requests_per_month: 1_000_000 };
    const changed = await parent.call('PATCH', `/${sub.id}`, { body: { limits } });
    t.match(changed, { status: 200, headers: { 'x-service-enforced': /^replicas=2; / } });
    t.match(await sent(key), [200, /^"sub_account-month";q=1000000;w=\d+$/, undefined]);
    t.match(await sent(parent.key, 'ext:sub'), [200, /^"sub_account-month"/, undefined]);
    t.same(await sent(parent.key, 'self'), [200, undefined, undefined]);
    await parent.call('PATCH', `/${sub.id}`, { body: { limits: { requests_per_month: null } } });
    t.same(await sent(key), [200, undefined, undefined]);
  }
});

t.test(
  'a limit of a key and of a parent holds likewise, and tells a sub-account nothing of its parent',
  async (t) => {
    const parent = await newParent();
    const key = await (await parent.create()).mint([]);
    t.same(await sent(key), [200, undefined, undefined]);
    const path = `/accounts/${parent.id}`;
    await operator('PATCH', path, { body: { limits: { requests_per_month: 3 } } });
    for (let i = 0; i < 2; i++) t.same(await sent(key), [200, undefined, undefined]);
    const last = await sent(key);
    t.match(last, [429, undefined, 'parent'], 'what was sent before the quota counts, too');
    await operator('PATCH', path, { body: { limits: { requests_per_month: null } } });
    t.same(await sent(key), [200, undefined, undefined], 'and the end of a limit, too');
    const own = await operator('PATCH', `/api-keys/${parent.keyId}`, {
      body: { limits: { requests_per_second: 1_000 } },
    });
    t.match(own, { status: 200, headers: { 'x-service-enforced': /^replicas=2; / } });
    t.match(await sent(parent.key, 'self'), [200, '"api_key";q=1000;w=1', undefined]);
  },
);

t.test(
  'from the 2xx of a change of a plan on every replica keeps it, for each of its accounts',
  async (t) => {
    const put = (requests_per_month: number) =>
      operator('PUT', '/plans/gold', { body: { limits: { requests_per_month } } });
    await put(1_000_000);
    const parents = [await newParent(), await newParent()];
    for (const { id } of parents) await operator('PATCH', `/accounts/${id}`, { body: { plan: 'gold' } });
    for (const quota of [2_000_000, 1_500_000]) {
      t.match(await put(quota), { status: 200, headers: { 'x-service-enforced': /^replicas=2; / } });
      for (const { key } of parents)
        t.match(await sent(key, 'self'), [200, new RegExp(`^"parent-month";q=${quota};`), undefined]);
    }
  },
);

t.test(
  'a limit is one for both gateways: its burst passes at once, whichever is asked, and no more',
  async (t) => {
    const sub = await (await newParent()).create({ name: 'N', limits: { requests_per_minute: 30 } });
    const key = await sub.mint([]);
    const began = performance.now();
    const responses = await Promise.all(
      Array.from({ length: 80 }, (_, i) => (i % 2 === 0 ? call : manage)('GET', '/x', { key })),
    );
    const passed = responses.filter(({ status }) => status === 200).length;
    const most = 1.02 * (30 + (performance.now() - began) / 2_000) + 2;
    t.ok(passed >= 30 && passed <= most, `${passed} of 30, at most ${most}`);
    t.match(
      responses.find(({ status }) => status !== 200),
      { status: 429, body: { code: 'rate_limited', limited: 'sub_account' } },
    );
  },
);
