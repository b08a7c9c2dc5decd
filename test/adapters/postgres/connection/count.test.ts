// class: app
/** How many connections to PostgreSQL a replica has, as PostgreSQL counts them. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { openPostgres, type Store } from '../../../../src/adapters/postgres/store.ts';
import { startCoherence } from '../../../../src/coherence/coherence.ts';
import { noFactCache } from '../../../../src/coherence/no-fact-cache.ts';
import { digestSecret } from '../../../../src/domain/api-key.ts';
import { systemClock } from '../../../../src/ports/clock.ts';
import { factKey } from '../../../../src/ports/facts.ts';
import { systemTimers } from '../../../../src/ports/timers.ts';
import { goodConfig } from '../../../support/config-files.ts';
import { eventually } from '../../../support/eventually.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import type { Scope } from '../../../support/servers.ts';
import { createParent, createSub, problemCode, rawSql } from '../../../support/store.ts';

const most = 4;

t.test('a replica has four connections at most, and one when it is quiet', async (t) => {
  const config = goodConfig({ DATABASE_URL: 'postgres://db/gateway', UPSTREAM_URL: 'http://up' });
  t.match(config.store, { maxConnections: most }, 'by default');
  const url = await freshDatabase(t);
  const sql = rawSql(t, url);
  const seen = watch(t, url);
  const store = openPostgres({ url, maxConnections: most, deadlines: { idleMs: 1_000 } });
  t.teardown(() => store.close());
  await store.migrate();
  await eventually(async () => (await connections(sql)) === 0);
  t.pass('what migrated is closed');

  const stop = startReplica(store);
  await eventually(async () => (await connections(sql)) === 1);
  const [loud, quiet] = [await createParent(store.tenants), await createParent(store.tenants)];
  const sub = (await createSub(store.tenants, quiet.id)).value;
  await sql.begin(async (tx) => {
    // Changes of one tenant wait for a lock, its reports for a table, and it makes up keys and names.
    await tx`select from account where id = ${loud.id} for update`;
    await tx`lock table usage_hourly in access exclusive mode`;
    const asked = Array.from({ length: 50 }, (_, i) => [
      problemCode(store.tenants.setParentStatus(loud.id, 'suspended')),
      problemCode(store.usage.report(loud.id, report)),
      problemCode(store.usage.about()),
      problemCode(store.facts.readFacts([factKey.key(digestSecret(randomBytes(24).toString('hex')))])),
      problemCode(store.facts.readFacts([factKey.externalId(loud.id, `name ${i}`)])),
    ]);
    const read = await store.facts.readFacts([factKey.account(sub.id)]);
    t.ok(read.facts.get(factKey.account(sub.id)), "another tenant's look-up does not wait for that");
    const { value } = (await store.tenants.setSubAccountStatus(quiet.id, sub.id, 'deactivated')) ?? {};
    t.equal(value?.status, 'deactivated', 'nor does its change');
    t.match(await store.log.replicas(), { rows: [{}] }, 'nor the lease');
    void asked;
  });
  t.equal(seen.most(), most, 'under load');
  await eventually(async () => (await connections(sql)) === 1);
  t.pass('and one again');
  t.equal(seen.most(), most);
  await stop();
});

const report = {
  period: { fromMs: Date.UTC(2030, 0, 1), toMs: Date.UTC(2030, 0, 2) },
  granularity: 'total',
  groupBy: 'sub_account',
  limit: 10,
} as const;

function startReplica(store: Store): () => Promise<void> {
  const { log, facts: source } = store;
  const coherence = startCoherence({
    ...{ log, source, cache: noFactCache, clock: systemClock, timers: systemTimers },
    config: { leaseMs: 3_000, maxFacts: 1_000 },
    logger: { info: () => undefined, warn: () => undefined },
    randomId: () => crypto.randomUUID(),
  });
  return () => coherence.stop();
}

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
