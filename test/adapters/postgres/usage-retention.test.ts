// class: app
/** What is deleted of usage, and what reports say of it. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Store } from '../../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import { dayMs, hourMs } from '../../../src/domain/usage.ts';
import { startApis } from '../../support/apis.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { createParent, freshStore, storeAt } from '../../support/store.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';

await awayFromMidnight();
const today = Math.floor(Date.now() / dayMs) * dayMs;

/** A request in every sixth hour of the last 100 days, of two parents and a sub-account of each. */
async function used(t: Parameters<typeof freshStore>[0]) {
  const { store, sql } = await freshStore(t);
  const apis = await startApis(t, { store });
  const parents = [await apis.parent(), await apis.parent()];
  const accounts: string[] = [];
  for (const parent of parents) accounts.push(parent.id, (await parent.create()).id);
  await addUsage(
    apis,
    accounts.flatMap((id) =>
      Array.from({ length: 400 }, (_, i) => usageRow(id, today - 6 * i * hourMs, { requests: 1 })),
    ),
  );
  await rollUp(store);
  return { store, sql, apis, parent: parents[0]! };
}

async function rollUp(store: Store): Promise<void> {
  while (await store.usage.rollUp());
}

async function pruneHours(store: Store, days: number, most: number, nowMs = Date.now()): Promise<number> {
  let sum = 0;
  let after: AccountId | null = null;
  do {
    const portion: Awaited<ReturnType<typeof store.usage.pruneHours>> = await store.usage.pruneHours({
      ...{ nowMs, days, after, most },
    });
    sum += portion.deleted;
    after = portion.next;
  } while (after !== null);
  return sum;
}

t.test('hours past their retention go, in portions, and their days stay', async (t) => {
  const { store, sql, apis, parent } = await used(t);
  const from = new Date(today - 90 * dayMs).toISOString();
  const days = `/usage?from=${from.slice(0, 10)}&granularity=day&limit=1000`;
  const before = await parent.call('GET', days);
  t.equal(await pruneHours(store, 200, 50), 0, 'nothing is that old');
  t.same(await store.usage.kept(), { hoursFromMs: -Infinity, daysFromMs: -Infinity });

  // 40 days and what has passed of today stay.
  const deleted = await pruneHours(store, 40, 50);
  const kept = today - 40 * dayMs;
  const [{ left, oldest }] = await sql<[{ left: number; oldest: Date }]>`
    select count(*) as left, min(hour) as oldest from usage_hourly`;
  t.equal(deleted + left, 1600);
  t.equal(oldest.getTime(), kept);
  t.same(await store.usage.kept(), { hoursFromMs: kept, daysFromMs: -Infinity });
  t.same((await parent.call('GET', days)).body['data'], before.body['data']);
  t.equal(await pruneHours(store, 40, 50), 0);

  const byHour = async (fromMs: number, toMs: number, granularity = 'hour') =>
    parent.call(
      'GET',
      `/usage?granularity=${granularity}&from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`,
    );
  t.equal((await byHour(kept, today)).status, 200);
  t.match(await byHour(kept - hourMs, today), {
    status: 400,
    body: { errors: [{ pointer: '?from', detail: /granularity=day/ }] },
  });
  t.match(await byHour(kept - 3 * hourMs, today, 'total'), {
    status: 400,
    body: { errors: [{ pointer: '?from', detail: /00:00 UTC/ }] },
  });
  t.match(await byHour(kept - 5 * dayMs, kept - 3 * hourMs, 'total'), {
    status: 400,
    body: { errors: [{ pointer: '?to' }] },
  });
  t.equal((await byHour(kept - 5 * dayMs, kept + 3 * hourMs, 'day')).status, 200);

  // What comes late is in its day, and its hour goes with the next round.
  await addUsage(apis, [usageRow(parent.id, kept - 5 * dayMs, { requests: 1000 })]);
  t.match((await byHour(kept - 5 * dayMs, kept - 4 * dayMs, 'total')).body, {
    data: [{}, { requests: 1004 }],
  });
  t.equal(await pruneHours(store, 40, 50), 1);
  t.match((await byHour(kept - 5 * dayMs, kept - 4 * dayMs, 'total')).body, {
    data: [{}, { requests: 1004 }],
  });
});

t.test('days past their retention go by whole months, and reports say so', async (t) => {
  const { store, sql, parent } = await used(t);
  const now = new Date(today);
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1);
  let deleted = 0;
  for (let portion = 70; portion === 70;)
    deleted += portion = await store.usage.pruneDays({ nowMs: Date.now(), months: 1, most: 70 });
  const [{ left, oldest }] = await sql<[{ left: number; oldest: Date }]>`
    select count(*) as left, min(day) as oldest from usage_daily`;
  t.equal(deleted + left, 4 * 100);
  t.equal(oldest.getTime(), first);
  const call = (fromMs: number) => parent.call('GET', `/usage?from=${new Date(fromMs).toISOString()}`);
  t.equal((await call(first)).status, 200);
  t.match(await call(first - dayMs), {
    status: 400,
    body: { errors: [{ pointer: '?from', detail: /has been deleted/ }] },
  });
});

t.test('months are kept by UTC, whatever the time zone of the server', async (t) => {
  const { store: here, url, sql } = await freshStore(t);
  const { id } = await createParent(here.tenants);
  const year = new Date().getUTCFullYear() - 1;
  for (const day of [`${year}-01-31`, `${year}-02-27`])
    await sql`insert into usage_daily values (${id}, ${id}, ${day}, ${randomUUID()}, 1, 1, 0, 0, 0, 0, 0)`;
  await sql`update usage_kept set rolled_until = current_date, rolling_until = current_date`;
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set timezone = 'America/New_York'`);
  const store = storeAt(t, url);
  // In New York it is still March 30, and a month earlier it is March 1 in UTC.
  const nowMs = Date.UTC(year, 2, 31, 2);
  t.equal(await store.usage.pruneDays({ nowMs, months: 1, most: 10 }), 1);
  t.match(await sql`select day::text from usage_daily`, [{ day: `${year}-02-27` }]);
});

t.test('a clock that jumps and unfinished days keep hours from being deleted', async (t) => {
  const { store, sql } = await used(t);
  const future = Date.now() + 1000 * dayMs;
  t.equal(await pruneHours(store, 150, 1000, future), 0);
  t.equal(await store.usage.pruneDays({ nowMs: future, months: 6, most: 1000 }), 0);
  const rolledUntil = new Date(today - 99 * dayMs);
  await sql`update usage_kept set rolled_until = ${rolledUntil}, rolling_until = ${rolledUntil}`;
  t.equal(await pruneHours(store, 40, 1000), 12, 'only the first hours, whose day is added up');
  t.equal(await store.usage.pruneDays({ nowMs: Date.now(), months: 1, most: 1000 }), 0);
  await rollUp(store);
  t.ok((await pruneHours(store, 40, 1000)) > 0, 'the control');
});

t.test('a journal that comes back with a disk within 400 days is not counted again', async (t) => {
  const { store, sql } = await freshStore(t);
  const apis = await startApis(t, { store });
  const parent = await apis.parent();
  const journal = randomUUID();
  const rows = [usageRow(parent.id, today, { requests: 400 })];
  const add = () =>
    store.usage.add({ journal, from: 0, to: 1, rows, keysPerAccountHour: 200, throughMs: Infinity });
  await add();
  const days = async (age: number) => {
    await sql`update usage_journal set at = now() - make_interval(days => ${age}) where id = ${journal}`;
    // A later process begins a journal of its own.
    await addUsage({ store }, [], Date.now());
  };
  await days(399);
  await add();
  const [counted] = await sql`select sum(requests)::int as requests from usage_hourly`;
  t.equal(counted?.['requests'], 400);
  await days(401);
  const [kept] = await sql`select count(*)::int as rows from usage_journal where id = ${journal}`;
  t.equal(kept?.['rows'], 0, 'in the end it is forgotten');
});
