// class: app
/** Changes of quotas beside calls of replicas that ask for them: both lock several rows. */
import t, { type Test } from 'tap';
import { bucketQuestion } from '../../contract/buckets.ts';
import { newAccountId, planTerms } from '../../support/drafts.ts';
import { createParent, freshStore, rawSql, waitForLocks } from '../../support/store.ts';

/** A store with quotas in use. `waitFor` starts calls in order; the first one waits for the row of the named quota. */
async function quotasInUse(t: Test) {
  const { url, store, sql } = await freshStore(t, { deadlines: { queryMs: 60_000 } });
  // By hand, because a store gives up after a second.
  const asking = rawSql(t, url);
  const ask = async (...names: readonly string[]): Promise<void> => {
    const questions = names.map((name) => ({
      ...bucketQuestion(`parent:${name}`, 100, 0),
      ...{ period: name.endsWith('day') ? 'day' : 'month', needed: 90 },
    }));
    await asking`select quota_ask('replica', ${asking.json(questions)})`;
  };
  const use = async (...names: readonly string[]): Promise<void> => {
    await ask(...names);
    await sql`update limit_quota set noted = 1`;
  };
  const waitFor = async (name: string, ...calls: readonly (() => Promise<unknown>)[]): Promise<void> => {
    const running: Promise<unknown>[] = [];
    await rawSql(t, url).begin(async (holder) => {
      await holder`select from limit_quota where limit_name = ${`parent:${name}`} for update`;
      for (const call of calls) {
        running.push(call());
        await waitForLocks(sql, running.length);
      }
    });
    await Promise.all(running);
  };
  return { tenants: store.tenants, ask, use, waitFor };
}

t.test('a change of two quotas of a plan does not deadlock with a replica that asks for both', async (t) => {
  const { tenants, ask, use, waitFor } = await quotasInUse(t);
  await tenants.putPlan('gold', planTerms({ requestsPerDay: 100, requestsPerMonth: 100 }));
  const a = await createParent(tenants, { plan: 'gold' });
  const b = await createParent(tenants, { plan: 'gold' });
  await use(`${a.id}:day`, `${a.id}:month`, `${b.id}:day`, `${b.id}:month`);
  await t.resolves(
    waitFor(
      `${b.id}:day`,
      async () => tenants.putPlan('gold', planTerms({ requestsPerDay: 200, requestsPerMonth: 200 })),
      async () => ask(`${a.id}:month`, `${b.id}:day`),
    ),
  );
});

t.test('a change of two quotas of an account does not deadlock with a replica that asks', async (t) => {
  const { tenants, ask, use, waitFor } = await quotasInUse(t);
  const { id } = await createParent(tenants);
  await tenants.updateParent(id, { limits: { requestsPerDay: 100 } });
  await use(`${id}:day`, `${id}:month`);
  await t.resolves(
    waitFor(
      `${id}:day`,
      async () => ask(`${id}:day`, `${id}:month`),
      async () => tenants.updateParent(id, { limits: { requestsPerDay: 200, requestsPerMonth: 200 } }),
    ),
  );
});

t.test('an import that gives accounts other plans does not deadlock with a replica that asks', async (t) => {
  const { tenants, ask, use, waitFor } = await quotasInUse(t);
  await tenants.putPlan('gold', planTerms({ requestsPerDay: 100 }));
  const a = await createParent(tenants, { externalId: 'a' });
  const b = await createParent(tenants, { externalId: 'b' });
  await use(`${a.id}:day`, `${b.id}:day`);
  const row = (externalId: string) =>
    ({ ...{ id: newAccountId(), externalId, name: externalId }, metadata: {}, plan: 'gold' }) as const;
  await t.resolves(
    waitFor(
      `${a.id}:day`,
      async () => ask(`${a.id}:day`, `${b.id}:day`),
      async () => tenants.importParents([row('b'), row('a')]),
    ),
  );
});
