// class: app
/** Plans in PostgreSQL: what waits for what, which only other connections can show. */
import t from 'tap';
import type { NewParent, TenantStore } from '../../../src/ports/tenant-store.ts';
import { newAccountId, newClaim, planTerms } from '../../support/drafts.ts';
import { createParent, createSub, freshStore, rawSql, waitForLocks } from '../../support/store.ts';

t.test(
  'a change of a plan waits for accounts that came before it, and for none that came after',
  async (t) => {
    const { url, store, sql } = await freshStore(t);
    const { tenants } = store;
    await tenants.putPlan('gold', planTerms({ requestsPerSecond: 1 }));
    const before = rawSql(t, url);
    const { change, account } = await before.begin(async (tx) => {
      await tx`select plan_hold(array['gold'])`;
      const change = tenants.putPlan('gold', planTerms({ requestsPerSecond: 2 }));
      await waitForLocks(sql, 1);
      const account = createParent(tenants, { plan: 'gold' });
      await waitForLocks(sql, 2);
      return { change, account };
    });
    t.match(await change, { value: { limits: { requestsPerSecond: 2 } } });
    t.match(await account, { effectiveLimits: { requestsPerSecond: 2 } }, 'it came after the change');
  },
);

t.test('changes of plans, of accounts with them, and imports of both never deadlock', async (t) => {
  const { store, sql } = await freshStore(t, { maxConnections: 10 });
  const { tenants } = store;
  const names = ['bronze', 'gold', 'silver'];
  for (const name of names) await tenants.putPlan(name, planTerms({ requestsPerSecond: 1 }));
  const parents = await Promise.all(
    ['a', 'b'].map((externalId) => createParent(tenants, { externalId, plan: 'gold' })),
  );
  const rounds = Array.from({ length: 20 }, (_, i) => i);
  const name = (i: number) => names[i % names.length] ?? '';
  const row = (externalId: string, plan: string) =>
    ({ id: newAccountId(), externalId, name: externalId, metadata: {}, plan }) as const;
  const loops = [
    ...names.map((of, n) => async (i: number) => {
      const limits = { requestsPerSecond: i + 2 + n, requestsPerDay: 100 + i };
      return tenants.putPlan(of, planTerms(limits));
    }),
    ...parents.map(
      ({ id }, n) =>
        async (i: number) =>
          tenants.updateParent(id, { plan: name(i + n) }),
    ),
    ...parents.map(
      ({ id }) =>
        async () =>
          createSub(tenants, id),
    ),
    async (i: number) =>
      tenants.importParents([row('b', name(i)), row(`new-${i}`, name(i + 1)), row('a', name(i + 2))]),
    async (i: number) => createParent(tenants, { plan: name(i) }),
  ];
  await Promise.all(
    loops.map(async (loop) => {
      for (const i of rounds) await loop(i);
    }),
  );
  const [found] = await sql`select deadlocks::int from pg_stat_database where datname = current_database()`;
  t.equal(found?.['deadlocks'], 0);
  t.match(await tenants.getPlan('gold'), { limits: { requestsPerDay: 119 } });
});

t.test(
  'a parent with a plan waits for a change of the plan that a replica has not confirmed yet',
  async (t) => {
    const { store } = await freshStore(t);
    const { tenants } = store;
    await tenants.putPlan('gold', planTerms({ requestsPerSecond: 1_000 }));
    await store.log.register({ id: 'replica', nonce: 'n', leaseMs: 3_000, streamsMs: 0, clockAheadMs: null });
    const { seq } = await tenants.putPlan('gold', planTerms({ requestsPerSecond: 1 }));
    t.type(seq, 'number');
    const claim = newClaim('operator');
    const draft = { id: newAccountId(), name: 'Parent', plan: 'gold' };
    t.match(await tenants.createParent(draft, claim), { seq });
    t.match(await tenants.createParent(draft, claim), { seq }, 'sent again');
    t.match(await createdAs(tenants, { externalId: 'a', plan: 'gold' }), { seq });
    t.match(await createdAs(tenants, {}), { seq: null }, 'without a plan');
    const row = { ...{ id: newAccountId(), externalId: 'b', name: 'B' }, metadata: {}, plan: 'gold' };
    t.match(await tenants.importParents([row]), { seq });
  },
);

async function createdAs(tenants: TenantStore, draft: Partial<NewParent>) {
  return tenants.createParent({ id: newAccountId(), name: 'Parent', ...draft });
}
