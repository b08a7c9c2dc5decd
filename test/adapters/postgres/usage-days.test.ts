// class: app
/** Usage by the day: that days which are added up are what their hours say, and that reports are the same whichever they read. */
import t from 'tap';
import type { Sql } from '../../../src/adapters/postgres/connection/sql.ts';
import { hourMs } from '../../../src/domain/usage.ts';
import { newKeyId } from '../../support/drafts.ts';
import { eventually } from '../../support/eventually.ts';
import { createParent, freshStore, lockWaiters, rawSql } from '../../support/store.ts';
import { compare, everyQuestion, march, someUsage } from '../../support/usage-questions.ts';
import { addUsage } from '../../support/usage-rows.ts';

/** Days that are not the sum of their hours, although they are added up, and days that are there too early. */
async function differences(sql: Sql): Promise<number> {
  const [row] = await sql<[{ n: number }]>`
    select count(*) as n from (
      select u.root_id, u.account_id, usage_day_of(hour) as day, key_id, sum(requests) as requests, sum(bytes_in) as bytes_in
      from usage_hourly u, usage_kept k where usage_day_of(hour) < usage_rolled_until(k, u.root_id, u.account_id)
      group by 1, 2, 3, 4
    ) h full join usage_daily d using (root_id, account_id, day, key_id)
    where (h.requests, h.bytes_in) is distinct from (d.requests::numeric, d.bytes_in::numeric)`;
  return row.n;
}

t.test('days follow their hours where those are changed by hand, and where that is taken back', async (t) => {
  const { store, sql } = await freshStore(t);
  const rows = await someUsage(store);
  await sql`update usage_journal set through = 'infinity'`;
  while (await store.usage.rollUp());
  await sql`update usage_hourly set requests = requests + 10 where hour < ${new Date(march + 30 * hourMs)}`;
  await sql`delete from usage_hourly where account_id = ${rows[0]!.accountId}`;
  t.equal(await differences(sql), 0);
  await sql
    .begin(async (tx) => {
      await tx`update usage_hourly set requests = 1`;
      throw new Error('taken back');
    })
    .catch(() => undefined);
  t.equal(await differences(sql), 0);
});

t.test(
  'batches that come to the same days in another order wait for each other, and none fails',
  async (t) => {
    const { store, url } = await freshStore(t);
    const { id } = await createParent(store.tenants);
    const key = newKeyId();
    while (await store.usage.rollUp());
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
      await eventually(async () => begun || (await lockWaiters(other)) > 0);
      await add(tx, '02 04');
    });
    await second;
    t.equal(await differences(other), 0);
  },
);

t.test('every report is the same from days, from hours, and from both while days are added up', async (t) => {
  const { store, sql } = await freshStore(t);
  const rows = await someUsage(store);
  const questions = await everyQuestion(store, rows);
  await compare(t, store, questions, 'from hours');
  await sql`update usage_journal set through = 'infinity'`;
  for (let portion = 1; ; portion++) {
    const [{ more }] = await sql<[{ more: boolean }]>`select usage_roll_up(60) as more`;
    if (portion % 4 === 1 || !more) await compare(t, store, questions, `after ${portion} portions`);
    if (more) continue;
    t.ok(portion >= 5);
    break;
  }
  t.equal(await differences(sql), 0);
  t.equal(await store.usage.rollUp(), false, 'done');
  await addUsage({ store }, rows);
  await compare(t, store, await everyQuestion(store, [...rows, ...rows]), 'after late batches');
});
