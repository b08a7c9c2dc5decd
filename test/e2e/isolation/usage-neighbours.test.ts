// class: night
/** What one tenant asks for, and the connections that others need. */
import t, { type Test } from 'tap';
import type { Sql } from '../../../src/adapters/postgres/connection/sql.ts';
import { startApis } from '../../support/apis.ts';
import { embeddedStore } from '../../support/embedded.ts';
import type { HttpResponse } from '../../support/http-client.ts';
import { eventually } from '../../support/eventually.ts';
import { freshStore, rawSql } from '../../support/store.ts';

const reports = 40;

for (const maxConnections of [4, 10]) {
  t.test(
    `with ${maxConnections} connections, however long one tenant's reports take, another one's changes and lists are served`,
    (t) => reportsThatHang(t, maxConnections),
  );
  t.test(
    `with ${maxConnections} connections, however long one tenant's changes take, another one's are made`,
    (t) => changesThatHang(t, maxConnections),
  );
}

async function reportsThatHang(t: Test, maxConnections: number): Promise<void> {
  const { url, store } = await freshStore(t, { maxConnections, deadlines: { queryMs: 60_000 } });
  const apis = await startApis(t, { store });
  const [loud, quiet] = [await apis.parent(), await apis.parent()];
  const sub = await quiet.create();
  const [sql, other] = [rawSql(t, url), rawSql(t, url)];
  let ended = 0;
  let asked: readonly Promise<number>[] = [];
  await sql.begin(async (tx) => {
    // No report ends before this transaction does.
    await tx`lock table usage_hourly in access exclusive mode`;
    asked = Array.from({ length: reports }, async () => {
      const { status } = await loud.call('GET', '/usage?from=2030-01-01&to=2030-01-02');
      ended += 1;
      return status;
    });
    await eventually(async () => (await waitingForLock(other)) > 0);
    t.equal((await sub.act('deactivate')).status, 200);
    t.equal((await quiet.call('GET', '')).status, 200);
    if (maxConnections > 4)
      t.equal((await loud.call('GET', '')).status, 200, "nor do the first one's own lists wait");
    t.equal(ended, 0);
    t.equal(await waitingForLock(other), 1, 'reports have one connection');
  });
  t.same(new Set(await Promise.all(asked)), new Set([200]));
}

async function changesThatHang(t: Test, maxConnections: number): Promise<void> {
  const { url, store } = await freshStore(t, { maxConnections, deadlines: { queryMs: 60_000 } });
  const apis = await startApis(t, { store });
  const [loud, quiet] = [await apis.parent(), await apis.parent()];
  const sub = await quiet.create();
  const [sql, other] = [rawSql(t, url), rawSql(t, url)];
  let made: readonly Promise<HttpResponse>[] = [];
  await sql.begin(async (tx) => {
    // A create takes its parent's lock.
    await tx`select from account where id = ${loud.id} for update`;
    made = Array.from({ length: 20 }, () => loud.call('POST', '', { body: { name: 'Child' } }));
    await eventually(async () => (await waitingForLock(other)) > 0);
    t.equal((await sub.act('deactivate')).status, 200);
  });
  for (const response of await Promise.all(made)) t.equal(response.status, 201);
}

t.test('over the one connection of the embedded store each tenant has its turn', async (t) => {
  const store = await embeddedStore(t);
  const apis = await startApis(t, { store });
  const [loud, quiet] = [await apis.parent(), await apis.parent()];
  const sub = await quiet.create();
  const order: string[] = [];
  const loudCalls = Array.from({ length: 60 }, async () => {
    await store.usage.report(loud.id as never, report);
    order.push('loud');
  });
  const revoke = store.tenants.setSubAccountStatus(quiet.id as never, sub.id as never, 'deactivated');
  await revoke.then(() => order.push('quiet'));
  await Promise.all(loudCalls);
  t.ok(order.indexOf('quiet') <= 2, `after ${order.indexOf('quiet')} reports of another tenant`);
});

const report = {
  period: { fromMs: Date.UTC(2030, 0, 1), toMs: Date.UTC(2030, 0, 2) },
  granularity: 'total',
  groupBy: 'sub_account',
  limit: 10,
} as const;

/** Inside a transaction the view would stay as it was. */
async function waitingForLock(sql: Pick<Sql, 'unsafe'>): Promise<number> {
  const [row] = await sql.unsafe<[{ count: number }]>(
    `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row.count;
}
