// class: app
/** Late batches, those with counts for closed hours, beside each other and beside everything that closes, adds up and deletes. */
import { randomInt, randomUUID } from 'node:crypto';
import t from 'tap';
import type { Sql } from '../../../src/adapters/postgres/connection/sql.ts';
import { usageStore } from '../../../src/adapters/postgres/usage/usage-store.ts';
import { dayMs, hourMs, type UsageRow } from '../../../src/domain/usage.ts';
import { newKeyId } from '../../support/drafts.ts';
import { createParent, createSub, freshStore, over, rawSql } from '../../support/store.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';

const may = Date.UTC(2025, 4, 1);
const turn = { holder: randomUUID(), leaseMs: 60_000, delayMs: 0, lostAfterMs: 10 * dayMs };

/** A usage store over one connection, or over one open transaction. */
function over1(sql: Sql) {
  const runner = over(sql);
  return usageStore(runner, runner, runner);
}

t.test('two late batches are added at once if they have no row in common', async (t) => {
  const { store, url, sql } = await freshStore(t);
  const [one, other] = [await createParent(store.tenants), await createParent(store.tenants)];
  await store.usageExport.begin(turn);
  while (await store.usage.rollUp());
  const late = (id: string) => [usageRow(id, may, { requests: 1 })];
  await sql.begin(async (tx) => {
    await addUsage({ store: { usage: over1(tx as unknown as Sql) } }, late(one.id));
    await addUsage({ store }, late(other.id));
    const [found] = await rawSql(t, url)`select count(*)::int as n from usage_late`;
    t.equal(found?.['n'], 1, 'the second is committed, the first is not');
  });
  const counted = await sql`
    select (select sum(requests)::int from usage_late) as late, (select sum(requests)::int from usage_daily) as daily`;
  t.same(counted, [{ late: 2, daily: 2 }]);
});

t.test(
  'late batches with the same rows in any order never deadlock, and every sum and correction is exact',
  async (t) => {
    const { store, url, sql } = await freshStore(t);
    const accounts: string[] = [];
    for (let parent = 0; parent < 2; parent++) {
      const { id } = await createParent(store.tenants);
      accounts.push(id);
      for (let sub = 0; sub < 3; sub++) accounts.push((await createSub(store.tenants, id)).value.id);
    }
    // The first of three days is closed before anything is counted; the hours of the others are closed on the way.
    const journal = randomUUID();
    const through = (throughMs: number) =>
      store.usage.add({ journal, from: 0, to: 0, rows: [], keysPerAccountHour: 200, throughMs });
    await through(may + dayMs);
    await store.usageExport.begin(turn);

    const expected = new Map<string, number>();
    const keys = [newKeyId()];
    // Some rows of a batch are new and others are not, and several of its keys share a row of an hour.
    const batch = (): UsageRow[] => {
      if (randomInt(3) === 0) keys.push(newKeyId());
      const recent = keys.slice(-3);
      return Array.from({ length: 40 }, () => {
        const [accountId, keyId] = [accounts[randomInt(accounts.length)]!, recent[randomInt(recent.length)]!];
        const at = may + randomInt(3) * dayMs + randomInt(4) * hourMs;
        const requests = randomInt(1, 10);
        const row = `${accountId} ${at} ${keyId}`;
        expected.set(row, (expected.get(row) ?? 0) + requests);
        return usageRow(accountId, at, { keyId, requests });
      });
    };
    const exported = new Map<string, number>();
    let counting = true;
    const beside = async (round: () => Promise<unknown>) => {
      while (counting) await round();
    };
    let closed = may + dayMs;
    const close = async () => {
      await through(Math.min(closed + hourMs, may + 3 * dayMs));
      const { closedUntilMs } = await store.usageExport.begin(turn);
      for (; closed < closedUntilMs; closed += hourMs)
        for (const { accountId, requests } of (await store.usageExport.hour(closed, null, 1_000)).rows)
          exported.set(`${accountId} ${closed}`, requests);
    };
    const prune = { nowMs: may + dayMs, days: 0, after: null, most: 1_000 };
    const [rolling, pruning] = [over1(rawSql(t, url)), over1(rawSql(t, url))];
    const others = [
      beside(close),
      beside(() => rolling.rollUp()),
      beside(() => pruning.pruneHours(prune)),
      beside(() => pruning.pruneDays({ nowMs: may, months: 0, most: 1_000 })),
    ];
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const usage = over1(rawSql(t, url));
        for (let n = 0; n < 50; n++) await addUsage({ store: { usage } }, batch());
      }),
    ).finally(() => (counting = false));
    await Promise.all(others);
    while (closed < may + 3 * dayMs) await close();
    await close();
    while (await store.usage.rollUp());

    const by = (of: (account: string, at: number, key: string) => string) => {
      const sums = new Map<string, number>();
      for (const [row, requests] of expected) {
        const [account, at, key] = row.split(' ') as [string, string, string];
        const name = of(account, Number(at), key);
        sums.set(name, (sums.get(name) ?? 0) + requests);
      }
      return sums;
    };
    const daily = await sql<{ of: string; requests: number }[]>`
      select concat_ws(' ', account_id, day, key_id) as of, requests::int from usage_daily where requests > 0`;
    t.same(
      new Map(daily.map(({ of, requests }) => [of, requests])),
      by((account, at, key) => `${account} ${new Date(at).toISOString().slice(0, 10)} ${key}`),
    );
    const query = { after: 0, fromMs: may, toMs: Infinity, most: 100_000 };
    const corrections = await store.usageExport.corrections(query);
    for (const { accountId, hourMs: at, requests } of corrections)
      exported.set(`${accountId} ${at}`, (exported.get(`${accountId} ${at}`) ?? 0) + requests);
    t.same(
      exported,
      by((account, at) => `${account} ${at}`),
    );
    const [found] = await sql`
      select deadlocks::int, (select count(*)::int from usage_hourly where hour < ${new Date(may + dayMs)}) as old
      from pg_stat_database where datname = current_database()`;
    t.equal(found?.['deadlocks'], 0);
    t.ok((await store.usage.kept()).hoursFromMs === may + dayMs, 'hours of the first day were deleted');
  },
);
