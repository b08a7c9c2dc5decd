// class: app
/** Limits in PostgreSQL, where there are many of them. */
import t from 'tap';
import { bucketQuestion } from '../../contract/buckets.ts';
import { newAccountId } from '../../support/drafts.ts';
import { eventually } from '../../support/eventually.ts';
import { freshStore, pagesRead, rawSql, storeAt } from '../../support/store.ts';
import type { Sql } from '../../../src/adapters/postgres/connection/sql.ts';

t.test('what a replica has at hand that asks no more is there for others after 15 seconds', async (t) => {
  const { store, sql } = await freshStore(t);
  const question = {
    ...bucketQuestion('parent:0190a0a0-0000-7000-8000-000000000001:month', 6_400, 0),
    period: 'month',
  } as const;
  const granted = async (replica: string, asked: object): Promise<number> => {
    const [answer] = await store.quotas(replica).ask([{ ...question, needed: 0, ...asked }]);
    if (answer === undefined || answer instanceof Error) throw new Error('no answer', { cause: answer });
    return answer.granted;
  };
  t.equal(await granted('gone', { ahead: 100 }), 100);
  t.equal(await granted('here', { needed: 6_400 }), 6_300, 'it may live');
  await sql`update limit_hold set at = at - interval '16 seconds' where replica = 'gone'`;
  t.equal(await granted('here', { needed: 200 }), 200 - 100, 'all of it');
});

t.test('a month ends in UTC, whatever the time zone of the server', async (t) => {
  const { url, sql } = await freshStore(t);
  const month = new Date().getUTCMonth() + 1;
  // Summer time begins in this month and ends in the next one, so that the two begin at different hours of UTC.
  const zone = `AAA0BBB,M${month}.2.0,M${(month % 12) + 1}.2.0`;
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set timezone = '${zone}'`);
  const store = storeAt(t, url);
  const [answer] = await store
    .quotas('a')
    .ask([{ ...bucketQuestion(`parent:${newAccountId()}:month`, 10, 0), period: 'month' }]);
  if (answer === undefined || answer instanceof Error) throw new Error('no answer', { cause: answer });
  const [{ starts }] = await sql<[{ starts: Date }]>`select starts_at as starts from limit_quota`;
  const lengthMs = Date.UTC(starts.getUTCFullYear(), starts.getUTCMonth() + 1) - starts.getTime();
  t.equal(answer.window?.lengthMs, lengthMs);
  const endMs = Math.round((Date.now() + (answer.window?.endsInMs ?? 0)) / 600_000) * 600_000;
  t.equal(endMs, starts.getTime() + lengthMs);
});

t.test('rows of full buckets are deleted, but for those that a replica is writing', async (t) => {
  const { store, url, sql } = await freshStore(t);
  const question = (limit: string, perSecond: number) => ({
    ...bucketQuestion(limit, 10, perSecond),
    needed: 5,
  });
  await store.buckets.ask([
    question('parent:full', 1_000),
    question('parent:busy', 1_000),
    question('parent:slow', 0.001),
  ]);
  const left = async (): Promise<unknown[]> =>
    (await sql`select limit_name from limit_bucket order by 1`).map((row) => row['limit_name'] as unknown);
  const writer = rawSql(t, url);
  await writer.begin(async (tx) => {
    await tx`update limit_bucket set tokens = 2 where limit_name = 'parent:busy'`;
    await eventually(async () => {
      await sql`select bucket_sweep()`;
      return (await left()).length === 2;
    });
    t.same(await left(), ['parent:busy', 'parent:slow']);
  });
  await sql`select bucket_sweep()`;
  t.same(await left(), ['parent:slow']);
});

/** Rows of each table that a sweep looks at: windows of an ended month, and full buckets. */
const sweptRows = {
  limit_quota: `(limit_name, starts_at, series, used)
    select 'parent:' || n || ':day', now() - interval '40 days', n, 5 from generate_series(1, $1::int) n`,
  limit_hold: `(limit_name, starts_at, replica, spent, hand, at)
    select 'parent:' || n || ':day', now() - interval '40 days', 'r', 5, 0, now() from generate_series(1, $1::int) n`,
  limit_bucket: `(limit_name, tokens, at, full_at)
    select 'parent:' || n || ':second', 5, now(), now() from generate_series(1, $1::int) n`,
};

async function fillSwept(sql: Sql, rows: number): Promise<void> {
  for (const [table, text] of Object.entries(sweptRows))
    await sql.unsafe(`insert into ${table} ${text}`, [rows]);
}

t.test('a sweep deletes at most 500 rows of a table, and 200 questions sweep once', async (t) => {
  const { store, sql } = await freshStore(t);
  await fillSwept(sql, 1_500);
  const left = async (): Promise<unknown> =>
    (
      await sql`
        select (select count(*)::int from limit_quota where used = 5) as quotas,
          (select count(*)::int from limit_hold where spent = 5) as holds,
          (select count(*)::int from limit_bucket where tokens = 5) as buckets`
    )[0];
  await sql`select quota_sweep(), bucket_sweep()`;
  t.same(await left(), { quotas: 1_000, holds: 1_000, buckets: 1_000 });
  const questions = Array.from({ length: 200 }, () => bucketQuestion(`parent:${newAccountId()}:day`, 9, 1));
  for (let calls = 0; calls < 2; calls++) {
    await store.quotas('a').ask(questions.map((question) => ({ ...question, period: 'day' })));
    await store.buckets.ask(questions);
  }
  t.same(await left(), { quotas: 0, holds: 0, buckets: 0 });
  const [present] = await sql`select count(*)::int as windows from limit_quota`;
  t.same(present, { windows: 200 }, 'those that are not over stay');
});

t.test(
  'a sweep reads a small part of a large table, also past rows that an old snapshot keeps',
  async (t) => {
    const { url, sql } = await freshStore(t);
    await fillSwept(sql, 30_000);
    await rawSql(t, url).begin('isolation level repeatable read', async (old) => {
      await old`select`;
      for (const table of Object.keys(sweptRows)) await sql`delete from ${sql(table)}`;
      for (const sweep of ['quota_sweep', 'bucket_sweep']) {
        const pages = await pagesRead(sql, `${sweep}()`);
        t.ok(pages < 600, `${sweep} reads ${pages} pages`);
      }
    });
  },
);
