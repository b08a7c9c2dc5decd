/** Usage by the day: that it is what the hours say, at every commit, and that reports are the same whichever they read. */
import t, { type Test } from 'tap';
import { openPostgres, type Store } from '../../../src/adapters/postgres/store.ts';
import type { Sql } from '../../../src/adapters/postgres/connection/sql.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import {
  dayMs,
  hourMs,
  type UsageGranularity,
  type UsageGroup,
  type UsageRow,
} from '../../../src/domain/usage.ts';
import type { UsageQuery, UsageReportRow } from '../../../src/ports/usage.ts';
import { eventually } from '../../support/eventually.ts';
import { createParent, createSub, freshStore, newKeyId, rawSql } from '../../support/store.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';

const march = Date.UTC(2025, 2, 1);
const granularities: readonly UsageGranularity[] = ['hour', 'day', 'month', 'total'];
const groups: readonly UsageGroup[] = ['account', 'sub_account', 'api_key'];

/** Days that are not the sum of their hours. */
async function differences(sql: Sql): Promise<number> {
  const [row] = await sql<[{ n: number }]>`
    select count(*) as n from (
      select root_id, account_id, usage_day_of(hour) as day, key_id, sum(requests) as requests, sum(bytes_in) as bytes_in
      from usage_hourly group by 1, 2, 3, 4
    ) h full join usage_daily d using (root_id, account_id, day, key_id)
    where (h.requests, h.bytes_in) is distinct from (d.requests::numeric, d.bytes_in::numeric)`;
  return row.n;
}

t.test(
  'days are the sum of their hours, however many replicas add to the same ones in any order',
  async (t) => {
    const { store, url } = await freshStore(t, { maxConnections: 10 });
    const stores = [store, ...[1, 2, 3].map(() => openPostgres({ url, maxConnections: 10 }))];
    t.teardown(() => Promise.all(stores.map((each) => each.close())));
    const { id: parent } = await createParent(store.tenants);
    const accounts = [parent];
    for (let i = 0; i < 5; i++) accounts.push((await createSub(store.tenants, parent)).value.id);
    const key = newKeyId();
    // Some hours are new to a batch and others are not, in another order in each: what deadlocks without the lock.
    const batches = Array.from({ length: 80 }, (_, n) =>
      accounts.map((account, i) =>
        usageRow(account, march + ((n * 7 + i * 5) % 48) * hourMs, {
          keyId: key,
          requests: 1 + i,
          bytesIn: n,
        }),
      ),
    );
    await Promise.all(batches.map((rows, n) => addUsage({ store: stores[n % stores.length]! }, rows, march)));
    const sql = rawSql(t, url);
    t.equal(await differences(sql), 0);
    const [{ sum }] = await sql<[{ sum: number }]>`select sum(requests)::bigint as sum from usage_daily`;
    t.equal(sum, 80 * (1 + 2 + 3 + 4 + 5 + 6));

    await sql`update usage_hourly set requests = requests + 10 where hour < ${new Date(march + 30 * hourMs)}`;
    await sql`delete from usage_hourly where account_id = ${accounts[1]!}`;
    t.equal(await differences(sql), 0, 'changed by hand, too');
    await sql
      .begin(async (tx) => {
        await tx`update usage_hourly set requests = 1`;
        throw new Error('taken back');
      })
      .catch(() => undefined);
    t.equal(await differences(sql), 0);
  },
);

t.test(
  'batches that come to the same days in another order wait for each other, and none fails',
  async (t) => {
    const { store, url } = await freshStore(t);
    const { id } = await createParent(store.tenants);
    const key = newKeyId();
    const [one, two, other] = [rawSql(t, url), rawSql(t, url), rawSql(t, url)];
    const add = (sql: Pick<Sql, 'unsafe'>, hour: string) =>
      sql.unsafe(
        `insert into usage_hourly values ('${id}', '${id}', '2025-03-${hour}:00Z', '${key}', 1, 1, 0, 0, 0, 0, 0)`,
      );
    let second: Promise<unknown> = Promise.resolve();
    await one.begin(async (tx) => {
      await add(tx, '01 01');
      let begun = false;
      second = two.begin(async (tx) => {
        await add(tx, '02 02');
        begun = true;
        await add(tx, '01 03');
      });
      second.catch(() => undefined);
      await eventually(async () => {
        const [row] = await other<[{ waits: number }]>`
        select count(*) as waits from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
        return begun || row.waits > 0;
      });
      await add(tx, '02 04');
    });
    await second;
    t.equal(await differences(other), 0);
  },
);

t.test('every report is the same from days, from hours, and from both while days are added up', async (t) => {
  const { store, url } = await freshStore(t);
  const sql = rawSql(t, url);
  const rows = await someUsage(store);
  const questions = await everyQuestion(store, rows);
  await compare(t, store, questions, 'from days');

  // As 0.1.0 left it.
  await sql`truncate usage_daily`;
  await sql`update usage_kept set root_id = ${nil}, account_id = ${nil}, day = '-infinity'`;
  await compare(t, store, questions, 'from hours');
  for (let portion = 1; ; portion++) {
    const [{ more }] = await sql<[{ more: boolean }]>`select usage_roll_up(60) as more`;
    if (portion % 4 === 1 || !more) await compare(t, store, questions, `after ${portion} portions`);
    if (more) continue;
    t.ok(portion >= 5);
    break;
  }
  t.equal(await differences(sql), 0);
  t.equal(await store.usage.rollUp(), false, 'done');
});

t.test('what is added while days are being added up is in them once', async (t) => {
  const { store, url } = await freshStore(t);
  const sql = rawSql(t, url);
  const rows = await someUsage(store);
  await sql`truncate usage_daily`;
  await sql`update usage_kept set root_id = ${nil}, account_id = ${nil}, day = '-infinity'`;
  const second = rawSql(t, url);
  let more = true;
  await Promise.all([
    (async () => {
      for (let i = 0; more; i++) await addUsage({ store }, rows.slice(i % 50, (i % 50) + 30), march);
    })(),
    (async () => {
      while (more) [{ more }] = await second<[{ more: boolean }]>`select usage_roll_up(20) as more`;
    })(),
  ]);
  t.equal(await differences(sql), 0);
});

const nil = '00000000-0000-0000-0000-000000000000';

/** Two parents with sub-accounts, several keys, from the end of February to the beginning of May, some accounts without any. */
async function someUsage(store: Store): Promise<readonly UsageRow[]> {
  const keys = [newKeyId(), newKeyId()];
  const rows: UsageRow[] = [];
  for (let p = 0; p < 2; p++) {
    const { id: parent } = await createParent(store.tenants);
    const accounts = [parent];
    for (let i = 0; i < 6; i++) accounts.push((await createSub(store.tenants, parent)).value.id);
    for (const [i, account] of accounts.entries()) {
      if (i === 3) continue;
      for (let n = 0; n < 25; n++) {
        const at = march - 2 * dayMs + (((n * 59 + i * 13) * hourMs) % (65 * dayMs));
        rows.push(
          usageRow(account, at, { keyId: keys[n % 2], requests: 1 + n, reads: n, writes: 1, bytesOut: i }),
        );
      }
    }
  }
  await addUsage({ store }, rows, march);
  return rows;
}

interface Question {
  readonly parent: AccountId | null;
  readonly query: Omit<UsageQuery, 'limit'>;
  readonly expected: readonly unknown[];
}

async function everyQuestion(store: Store, rows: readonly UsageRow[]): Promise<readonly Question[]> {
  const roots = new Map<AccountId, AccountId>();
  for (const { accountId } of rows)
    roots.set(accountId, (await store.usage.parentOf(accountId)) ?? accountId);
  const [parent] = roots.values();
  const [, sub] = roots.keys();
  const periods = [
    { fromMs: march, toMs: march + 31 * dayMs },
    { fromMs: march - 5 * dayMs + 7 * hourMs, toMs: march + 60 * dayMs + 5 * hourMs },
    { fromMs: march + 5 * hourMs, toMs: march + 9 * hourMs },
    { fromMs: march - 3 * hourMs, toMs: march + 3 * hourMs },
  ];
  const scopes = [
    { parent: null },
    { parent: parent! },
    { parent: parent!, account: sub! },
    { parent: null, account: parent! },
  ];
  return scopes.flatMap(({ parent, account }) =>
    periods.flatMap((period) =>
      granularities.flatMap((granularity) =>
        groups.map((groupBy): Question => {
          const query = { period, granularity, groupBy, ...(account !== undefined && { account }) };
          const counted = rows.filter(
            (row) =>
              (parent === null || roots.get(row.accountId) === parent) &&
              (account === undefined || row.accountId === account),
          );
          return { parent, query, expected: expectedLines(counted, query, roots) };
        }),
      ),
    ),
  );
}

function expectedLines(
  rows: readonly UsageRow[],
  { period, granularity, groupBy }: Omit<UsageQuery, 'limit'>,
  roots: ReadonlyMap<AccountId, AccountId>,
): readonly unknown[] {
  const lines = new Map<string, Record<string, unknown>>();
  for (const row of rows) {
    if (row.hourMs < period.fromMs || row.hourMs >= period.toMs) continue;
    const accountId = groupBy === 'account' ? roots.get(row.accountId)! : row.accountId;
    const keyId = groupBy === 'api_key' ? row.keyId : null;
    const periodStartMs = Math.max(period.fromMs, startOf(row.hourMs, granularity, period.fromMs));
    const name = [accountId, String(periodStartMs).padStart(15, '0'), keyId].join(' ');
    const line = lines.get(name) ?? {
      accountId,
      keyId,
      periodStartMs,
      requests: 0,
      reads: 0,
      writes: 0,
      bytesOut: 0,
    };
    for (const field of ['requests', 'reads', 'writes', 'bytesOut'] as const)
      line[field] = (line[field] as number) + row[field];
    lines.set(name, line);
  }
  return [...lines].sort(([a], [b]) => (a < b ? 1 : -1)).map(([, line]) => line);
}

function startOf(ms: number, granularity: UsageGranularity, fromMs: number): number {
  const date = new Date(ms);
  if (granularity === 'hour') return ms;
  if (granularity === 'day') return Math.floor(ms / dayMs) * dayMs;
  return granularity === 'month' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) : fromMs;
}

async function compare(t: Test, store: Store, questions: readonly Question[], what: string): Promise<void> {
  let different = 0;
  for (const { parent, query, expected } of questions) {
    const lines = await pages(store, parent, query);
    const got = lines.map(({ accountId, keyId, periodStartMs, requests, reads, writes, bytesOut }) => ({
      ...{ accountId, keyId, periodStartMs, requests, reads, writes, bytesOut },
    }));
    if (JSON.stringify(got) !== JSON.stringify(expected)) {
      different += 1;
      t.same(got, expected, `${what}: ${JSON.stringify({ parent, ...query })}`);
    }
  }
  t.equal(different, 0, what);
}

async function pages(
  store: Store,
  parent: AccountId | null,
  query: Omit<UsageQuery, 'limit'>,
): Promise<readonly UsageReportRow[]> {
  const all: UsageReportRow[] = [];
  for (let more = true; more;) {
    const after = all.at(-1)?.position;
    const page = await store.usage.report(parent, {
      ...query,
      limit: 40,
      ...(after !== undefined && { after }),
    });
    all.push(...page.rows);
    more = page.hasMore;
  }
  return all;
}
