// class: app
/** How many connections to PostgreSQL a replica has, as PostgreSQL counts them. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { digestSecret } from '../../../../src/domain/api-key.ts';
import { factKey } from '../../../../src/ports/facts.ts';
import { goodConfig } from '../../../support/config-files.ts';
import { decidingReplica } from '../../../support/deciding-replica.ts';
import { subAccountDraft } from '../../../support/drafts.ts';
import { eventually } from '../../../support/eventually.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import type { Scope } from '../../../support/servers.ts';
import { createKey, createParent, createSub, problemCode, rawSql, storeAt } from '../../../support/store.ts';

t.test('a replica has four at most by default', async (t) => {
  const { store } = goodConfig({ DATABASE_URL: 'postgres://db/gateway', UPSTREAM_URL: 'http://up' });
  t.match(store, { maxConnections: 4 });
});

for (const most of [4, 10])
  t.test(`of ${most} connections a quiet replica has one, and no tenant keeps those of others`, async (t) => {
    const url = await freshDatabase(t);
    const sql = rawSql(t, url);
    const seen = watch(t, url);
    const deadlines = { idleMs: 1_000, coherenceMs: 60_000, queryMs: 60_000 };
    const store = storeAt(t, url, { maxConnections: most, deadlines });
    await store.migrate();
    await eventually(async () => (await connections(sql)) === 0);
    t.pass('what migrated is closed');

    decidingReplica(t, store, 3_000);
    await eventually(async () => (await connections(sql)) === 1);
    const [loud, quiet] = [await createParent(store.tenants), await createParent(store.tenants)];
    const sub = (await createSub(store.tenants, quiet.id)).value;
    const keys = await Promise.all(
      [loud, quiet].map(async ({ id }) => ({
        accountId: id,
        keyId: (await createKey(store.tenants, id)).key.id,
      })),
    );
    let asked: readonly Promise<unknown>[] = [];
    await sql.begin(async (tx) => {
      // Reports of one tenant wait for a table, its changes for a lock, and it makes up keys and names.
      await tx`lock table usage_hourly in access exclusive mode`;
      asked = Array.from({ length: 50 }, () => problemCode(store.usage.report(loud.id, report)));
      if (most > 4)
        t.ok(await store.tenants.listSubAccounts(loud.id, {}, { limit: 1 }), 'its own lists do not');
      await tx`select from account where id = ${loud.id} for update`;
      const more = Array.from({ length: 50 }, (_, i) => [
        problemCode(store.tenants.createSubAccount(loud.id, subAccountDraft(), 100, null, keys[0])),
        problemCode(store.usage.about()),
        problemCode(store.facts.readFacts([factKey.key(digestSecret(randomBytes(24).toString('hex')))])),
        problemCode(store.facts.readFacts([factKey.externalId(loud.id, `name ${i}`)])),
      ]);
      asked = [...asked, ...more.flat()];
      const read = await store.facts.readFacts([factKey.account(sub.id)]);
      t.ok(read.facts.get(factKey.account(sub.id)), "another tenant's look-up does not wait for that");
      const change = store.tenants.setSubAccountStatus(quiet.id, sub.id, 'deactivated', null, keys[1]);
      t.match(await change, { value: { status: 'deactivated' } }, 'nor does its change');
      t.match(await store.log.replicas(), { rows: [{}] }, 'nor the lease');
    });
    t.same(new Set(await Promise.all(asked)), new Set([undefined]), 'and the first one is served later');
    t.ok(seen.most() <= most, `${seen.most()} under load`);
    await eventually(async () => (await connections(sql)) === 1);
    t.pass('and one again');
  });

const report = {
  period: { fromMs: Date.UTC(2030, 0, 1), toMs: Date.UTC(2030, 0, 2) },
  granularity: 'total',
  groupBy: 'sub_account',
  limit: 10,
} as const;

type Counting = Pick<ReturnType<typeof rawSql>, 'unsafe'>;

/** Connections to the database but those of this test. */
async function connections(sql: Counting): Promise<number> {
  const [row] = await sql.unsafe<[{ count: number }]>(
    `select count(*)::int from pg_stat_activity
     where datname = current_database() and application_name = 'tenancy-gateway'`,
  );
  return row.count - watchers;
}

/** `sql` of the test and of {@link watch}. */
const watchers = 2;

/** Counts connections, again and again, and keeps the most. */
function watch(t: Scope, url: string): { most(): number } {
  const sql = rawSql(t, url);
  let most = 0;
  let going = true;
  const counting = (async () => {
    while (going) most = Math.max(most, await connections(sql));
  })();
  t.teardown(async () => {
    going = false;
    await counting;
  });
  return { most: () => most };
}
