/** What a store does with plans, and with the limits that accounts have by them. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { noLimits, type Limits } from '../../src/domain/limits/limits.ts';
import type { OwnLimits, PlanTerms } from '../../src/domain/limits/plan.ts';
import { factKey } from '../../src/ports/facts.ts';
import type { PageQuery } from '../../src/ports/tenant-store.ts';
import { bucketQuestion } from './buckets.ts';
import { keyDraft, newAccountId, planTerms, subAccountDraft } from '../support/drafts.ts';
import { factOf, loggedBy } from '../support/logged.ts';
import { createKey, createParent, createSub, everyPage } from '../support/store.ts';
import { addUsage, usageRow } from '../support/usage-rows.ts';

let named = 0;
const newName = (): string => `plan-${process.pid}-${named++}`;

export async function planContract(t: Test, store: Store): Promise<void> {
  const { tenants, facts, log, events } = store;

  const logged = (change: () => Promise<unknown>) => loggedBy(log, change);

  async function planned(limits: Partial<Limits> = {}, more: Partial<PlanTerms> = {}) {
    const plan = newName();
    await tenants.putPlan(plan, planTerms(limits, more));
    const { id } = await createParent(tenants, { plan });
    return { plan, id };
  }

  await t.test('a change of a plan is one entry of the log, however many accounts have it', async (t) => {
    const { plan, id } = await planned({ requestsPerSecond: 5 });
    await createParent(tenants, { plan });
    const change = () => tenants.putPlan(plan, planTerms({ requestsPerSecond: 6 }));
    const first = await logged(change);
    t.same(first.keys, [factKey.plan(plan)]);
    t.match(first.made, { seq: first.before + 1 });
    const again = await logged(change);
    t.same(again.keys, []);
    t.same(
      (await events.list({ account: id }, { limit: 10 })).rows.map(({ type }) => type),
      ['account.created'],
    );
    const most = await logged(() =>
      tenants.putPlan(plan, planTerms({ requestsPerSecond: 6 }, { maxApiKeys: 5 })),
    );
    t.same(most.keys, [], 'no decision knows it');
  });

  await t.test('an account with a plan has its name in its fact, and the plan comes with it', async (t) => {
    const { plan, id } = await planned({ requestsPerSecond: 5 });
    const { value: sub } = await createSub(tenants, id);
    const { digest } = await createKey(tenants, sub.id);
    const own = { ...noLimits };
    const expected = { limits: { ...noLimits, requestsPerSecond: 5 } };
    t.match(await factOf(facts, factKey.account(id)), { limits: null, plan: { name: plan, own } });
    t.match(await factOf(facts, factKey.account(sub.id)), { limits: null, plan: null });
    for (const asked of [
      factKey.plan(plan),
      factKey.account(id),
      factKey.account(sub.id),
      factKey.activeSubAccounts(id),
    ] as const)
      t.same((await facts.readFacts([asked])).facts.get(factKey.plan(plan)), expected, asked);
    t.same((await facts.readFacts([factKey.key(digest)])).facts.get(factKey.plan(plan)), expected);
    t.equal(await factOf(facts, factKey.plan('no-such-plan')), null);
    const changed = await logged(() =>
      tenants.updateParent(id, { limits: { requestsPerMinute: 'unlimited' } }),
    );
    t.same(changed.keys, [factKey.account(id)]);
    t.match(await factOf(facts, factKey.account(id)), { plan: { own: { requestsPerMinute: 'unlimited' } } });
    const gone = await logged(() => tenants.updateParent(id, { plan: null }));
    t.same(gone.keys, [factKey.account(id)]);
    t.match(await factOf(facts, factKey.account(id)), { limits: null, plan: null });
  });

  await t.test('an account shows its plan, its own limits and those in force', async (t) => {
    const { plan, id } = await planned({ requestsPerSecond: 5, burst: 9, requestsPerDay: 50 });
    const ofPlan = { ...noLimits, requestsPerSecond: 5, burst: 9, requestsPerDay: 50 };
    t.match(await tenants.getParent(id), { plan, limits: noLimits, effectiveLimits: ofPlan });
    const change: Partial<OwnLimits> = { requestsPerSecond: 7, requestsPerDay: 'unlimited' };
    const own = { ...noLimits, ...change };
    const inForce = { ...noLimits, requestsPerSecond: 7 };
    t.match(await tenants.updateParent(id, { limits: change, maxApiKeys: 'unlimited' }), {
      value: { plan, limits: own, maxApiKeys: 'unlimited', maxSubAccounts: null, effectiveLimits: inForce },
    });
    const { rows } = await tenants.listParents({ plan }, { limit: 10 });
    t.match(rows, [{ id, limits: own, effectiveLimits: inForce }]);
    t.match(await tenants.setParentStatus(id, 'suspended'), { value: { effectiveLimits: inForce } });
    const [suspended, updated, created] = (await events.list({ account: id }, { limit: 10 })).rows;
    t.match(suspended?.subject.after, { effectiveLimits: inForce });
    t.match(updated?.subject, {
      before: { limits: noLimits, maxApiKeys: null, effectiveLimits: ofPlan },
      after: { limits: own, maxApiKeys: 'unlimited', effectiveLimits: inForce },
    });
    t.match(created?.subject.after, { plan, effectiveLimits: ofPlan });
    t.match(await tenants.updateParent(id, { limits: { requestsPerDay: null } }), {
      value: { limits: { ...own, requestsPerDay: null }, effectiveLimits: { requestsPerDay: 50 } },
    });
  });

  await t.test(
    'a plan that is not there is no plan of an account, and one that is in use stays',
    async (t) => {
      const { plan, id } = await planned();
      const draft = { id: newAccountId(), name: 'N', plan: 'no-such-plan' };
      t.same(await tenants.createParent(draft), { noPlan: true });
      t.equal(await tenants.getParent(draft.id), null);
      t.same(await tenants.updateParent(id, { plan: 'no-such-plan', name: 'M' }), { noPlan: true });
      t.match(await tenants.getParent(id), { name: 'Parent', plan });
      t.same(await tenants.deletePlan(plan), { accounts: 1 });
      await tenants.updateParent(id, { plan: null });
      const deleted = await logged(() => tenants.deletePlan(plan));
      t.match(deleted.made, { value: null, seq: deleted.before + 1 });
      t.same(deleted.keys, [factKey.plan(plan)]);
    },
  );

  await t.test('lists have the accounts of a plan, newest first, and page over them', async (t) => {
    const { plan, id } = await planned();
    await planned();
    const more = [];
    for (let i = 0; i < 3; i++) more.unshift((await createParent(tenants, { plan })).id);
    const all = [...more, id];
    const list = (page: PageQuery) => tenants.listParents({ plan }, page);
    t.match(
      await everyPage(list, 2, (row) => row.id),
      all.map((each) => ({ id: each })),
    );
    t.same((await tenants.listParents({ plan, status: 'suspended' }, { limit: 2 })).rows, []);
    t.match((await tenants.listParents({ plan, nameStart: 'par' }, { limit: 9 })).rows.length, 4);
    await tenants.updateParent(id, { plan: null });
    t.same((await tenants.listParents({ plan }, { limit: 9 })).rows.length, 3);
  });

  await t.test('an import gives accounts their plans, takes them away and leaves them alone', async (t) => {
    const { plan } = await planned();
    const row = (externalId: string, more: { readonly plan?: string | null } = {}) => ({
      ...{ id: newAccountId(), externalId: `${plan}-${externalId}`, name: 'N', metadata: {} },
      ...more,
    });
    const outcomes = async (...rows: ReturnType<typeof row>[]) =>
      (await tenants.importParents(rows)).value.map(({ outcome }) => outcome);
    const planOf = async (externalId: string) =>
      (await tenants.listParents({ externalId: `${plan}-${externalId}` }, { limit: 1 })).rows[0]?.plan;
    t.same(await outcomes(row('a', { plan }), row('b'), row('c', { plan: 'no-such-plan' })), [
      'created',
      'created',
      'no-plan',
    ]);
    t.same([await planOf('a'), await planOf('b'), await planOf('c')], [plan, null, undefined]);
    t.same(await outcomes(row('a'), row('b', { plan: 'no-such-plan' })), ['unchanged', 'no-plan']);
    t.same(await outcomes(row('a', { plan }), row('b', { plan })), ['unchanged', 'updated']);
    t.same(await outcomes(row('a', { plan: null }), row('b')), ['updated', 'unchanged']);
    t.same([await planOf('a'), await planOf('b')], [null, plan]);
  });

  await t.test(
    'the most sub-accounts and keys are its own, the plan’s, or the configured number',
    async (t) => {
      const configured = 1;
      const { plan, id } = await planned({}, { maxSubAccounts: 2, maxApiKeys: 2 });
      const another = () => tenants.createSubAccount(id, subAccountDraft(), configured);
      const key = () => tenants.createKey(id, keyDraft(), configured);
      const rest = async (make: () => Promise<unknown>, most: number | null) => {
        let made = 0;
        let last: unknown;
        while (made < 5 && !('limit' in ((last = await make()) as object))) made += 1;
        if (most !== null) t.same(last, { limit: most });
        return made;
      };
      t.equal(await rest(another, 2), 2);
      t.equal(await rest(key, 2), 2);
      await tenants.putPlan(plan, planTerms({}, { maxSubAccounts: 3, maxApiKeys: 3 }));
      t.equal(await rest(another, 3), 1);
      t.equal(await rest(key, 3), 1);
      await tenants.updateParent(id, { maxSubAccounts: 4, maxApiKeys: 4 });
      t.equal(await rest(another, 4), 1);
      t.equal(await rest(key, 4), 1);
      await tenants.updateParent(id, { maxSubAccounts: 'unlimited', maxApiKeys: 'unlimited' });
      t.equal(await rest(another, null), 5);
      t.equal(await rest(key, null), 5);
      await tenants.updateParent(id, { maxSubAccounts: null, maxApiKeys: null });
      t.same([await another(), await key()], [{ limit: 3 }, { limit: 3 }]);
      await tenants.putPlan(plan, planTerms());
      t.same([await another(), await key()], [{ limit: configured }, { limit: configured }]);
    },
  );

  await t.test('a quota by a plan counts what was used before, for every account that gets it', async (t) => {
    const { plan, id } = await planned();
    const { id: own } = await createParent(tenants, { plan });
    await tenants.updateParent(own, { limits: { requestsPerDay: 10 } });
    const ask = async (account: string, capacity: number, replica = 'r') => {
      const question = { ...bucketQuestion(`parent:${account}:day`, capacity, 0), needed: 0 };
      const [answer] = await store.quotas(replica).ask([{ ...question, period: 'day' }]);
      return (answer as { readonly left: number }).left;
    };
    const use = (account: string, requests: number) =>
      addUsage({ store }, [usageRow(account, Date.now(), { requests, reads: requests })]);
    await use(id, 30);
    const set = (requestsPerDay: number | null) =>
      logged(() => tenants.putPlan(plan, planTerms({ requestsPerDay })));
    t.same((await set(100)).keys, [factKey.plan(plan), `q:${plan}:day`], 'replicas deliver their counts');
    t.equal(await ask(id, 100), 70);
    t.equal(await ask(own, 10), 10);
    await use(id, 5);
    t.same((await set(200)).keys, [factKey.plan(plan)]);
    t.equal(await ask(id, 200), 170, 'the same series');
    await set(null);
    await set(200);
    t.equal(await ask(id, 200), 165);
    await use(own, 1);
    t.equal(await ask(own, 10), 10, 'its own quota goes on');
    const other = await planned({ requestsPerDay: 50 });
    await tenants.updateParent(id, { limits: { requestsPerDay: 'unlimited' } });
    const moved = await logged(() =>
      tenants.updateParent(id, { plan: other.plan, limits: { requestsPerDay: null } }),
    );
    t.same(moved.keys, [factKey.account(id), `q:parent:${id}:day`]);
    t.equal(await ask(id, 50), 15);
  });

  await t.test('near a quota: that of the plan counts where an account has none of its own', async (t) => {
    const { plan, id } = await planned({ requestsPerDay: 10 });
    const replica = store.quotas('near');
    await replica.ask([{ ...bucketQuestion(`parent:${id}:day`, 10, 0), period: 'day', needed: 9 }]);
    const near = async () =>
      (await tenants.listParents({ near: 0.9, plan }, { limit: 10 })).rows.map((row) => row.id);
    t.same(await near(), [id]);
    await tenants.putPlan(plan, planTerms({ requestsPerDay: 20 }));
    t.same(await near(), []);
  });
}
