/**
 * Measures usage reports over a year of 10,000 sub-accounts, through the very store the gateway uses, on a PostgreSQL of its own. Prints the tables of `docs/maintainers/scale.md`, and with `--plans` how PostgreSQL went
 * about it, or with `--csv` what a report takes as CSV over HTTP, from the gateway as it was last built.
 *
 *     npm run bench:reports -- [--plans | --csv]
 */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { migrate } from '../src/adapters/postgres/schema/migrate.ts';
import { Pool } from '../src/adapters/postgres/connection/pool.ts';
import { connectByUrl, type Connect, type Sql } from '../src/adapters/postgres/connection/sql.ts';
import { usageStore } from '../src/adapters/postgres/usage/usage-store.ts';
import { uuidV7, type AccountId } from '../src/domain/ids.ts';
import { dayMs, hourMs } from '../src/domain/usage.ts';
import type { UsageQuery, UsageStore } from '../src/ports/usage.ts';
import { explaining } from './lib/plans.ts';
import { startPostgres } from './lib/postgres-server.ts';
import { measureCsv } from './lib/usage-csv.ts';

const subAccounts = 10_000;
const neighbours = 2_000;
const days = 365;
const rounds = 10;
const lastDay = Date.UTC(2026, 0, 1);
const year = { fromMs: lastDay - days * dayMs, toMs: lastDay };

type Report = readonly [name: string, parent: 'one' | 'all', query: Omit<UsageQuery, 'limit'>, limit: number];

const bySub = { groupBy: 'sub_account' } as const;
const cut = { fromMs: year.fromMs + dayMs, toMs: year.toMs - 5 * hourMs };
const reports: readonly Report[] = [
  ['by day', 'one', { ...bySub, period: year, granularity: 'day' }, 1000],
  ['by day and key', 'one', { groupBy: 'api_key', period: year, granularity: 'day' }, 1000],
  ['by day, the last day in part', 'one', { ...bySub, period: cut, granularity: 'day' }, 1000],
  ['by month', 'one', { ...bySub, period: year, granularity: 'month' }, 1000],
  ['in total', 'one', { ...bySub, period: year, granularity: 'total' }, 1000],
  ['in total', 'one', { ...bySub, period: year, granularity: 'total' }, 50],
  ['by day, all parents', 'all', { ...bySub, period: year, granularity: 'day' }, 1000],
  ['by parent and month', 'all', { groupBy: 'account', period: year, granularity: 'month' }, 50],
];

const server = await startPostgres(process.env['TEST_POSTGRES_BIN'] ?? '/usr/lib/postgresql/15/bin');
try {
  const { url, parent } = await prepare(server.url);
  if (process.argv.includes('--plans')) await printPlans(url, parent);
  else if (process.argv.includes('--csv'))
    print(await measureCsv(url, parent, { from: isoDay(year.fromMs), to: isoDay(year.toMs) }));
  else await printReports(url, parent);
} finally {
  await server.stop();
}

/** Pages from the beginning, the middle and the end of each report, as JSON. */
async function printReports(url: string, parent: AccountId): Promise<void> {
  const { usage, close } = open(connectByUrl(url, 10_000));
  print(
    '| report | lines of a page | first page | middle | end | slowest |\n| --- | ---: | ---: | ---: | ---: | ---: |',
  );
  for (const [name, whose, query, limit] of reports) {
    const times: number[] = [];
    const cells: string[] = [];
    const byParent = query.groupBy === 'account';
    for (const n of byParent ? [subAccounts] : [subAccounts, subAccounts / 2, 10]) {
      const mine: number[] = [];
      for (let round = 0; round < (byParent ? 1 : rounds); round++) {
        const at = Math.max(1, n - Math.floor(Math.random() * 5));
        const after = n === subAccounts ? {} : { after: positionAt(at) };
        const began = performance.now();
        const page = await usage.report(whose === 'one' ? parent : null, { ...query, limit, ...after });
        JSON.stringify(page.rows);
        mine.push(performance.now() - began);
      }
      times.push(...mine);
      cells.push(`${median(mine).toFixed(0)} ms`);
    }
    while (cells.length < 3) cells.push('');
    print(`| ${name} | ${limit} | ${cells.join(' | ')} | ${Math.max(...times).toFixed(0)} ms |`);
  }
  await printWhole(usage, parent);
  await close();
}

/** Page after page, as a CSV is read. */
async function printWhole(usage: UsageStore, parent: AccountId): Promise<void> {
  const began = performance.now();
  let lines = 0;
  let after: string | undefined;
  for (let more = true; more;) {
    const query = {
      ...bySub,
      period: year,
      granularity: 'day',
      limit: 2_000,
      ...(after && { after }),
    } as const;
    const page = await usage.report(parent, query);
    lines += page.rows.length;
    after = page.rows.at(-1)?.position;
    more = page.hasMore;
  }
  const seconds = (performance.now() - began) / 1000;
  print(`\nAll ${lines} lines by day: ${seconds.toFixed(0)} s, ${Math.round(lines / seconds)} a second.\n`);
}

async function printPlans(url: string, parent: AccountId): Promise<void> {
  const plans: string[] = [];
  const { usage, close } = open(explaining(url, (plan) => plans.push(plan)));
  for (const [name, whose, query, limit] of reports) {
    // A statement prepared on a connection is planned anew a few times before its plan is kept.
    for (let i = 0; i < 8; i++) {
      plans.length = 0;
      const after = query.groupBy === 'account' ? {} : { after: positionAt(subAccounts / 2 + i) };
      await usage.report(whose === 'one' ? parent : null, { ...query, limit, ...after });
    }
    print(`\n## ${name}, ${limit} lines\n\n${plans.slice(0, 2).join('\n\n')}`);
  }
  await close();
}

/** A parent, one key for each sub-account, used on each day; the hours of the last two days; and a neighbour, whose ids lie between. */
async function prepare(serverUrl: string): Promise<{ readonly url: string; readonly parent: AccountId }> {
  const admin = postgres(serverUrl, { max: 1, onnotice: () => undefined });
  await admin.unsafe('create database usage_scale');
  await admin.end();
  const url = new URL(serverUrl);
  url.pathname = '/usage_scale';
  const sql = connectByUrl(url.href, 600_000)();
  await migrate({ run: async (work) => work(sql) });
  const parent = newId();
  const neighbour = newId();
  await fill(sql, parent, 1, subAccounts);
  await fill(sql, neighbour, subAccounts + 1, neighbours);
  const rolledUntil = sql`${new Date(lastDay)}::date`;
  await sql`update usage_kept set rolled_until = ${rolledUntil}, rolling_until = ${rolledUntil}`;
  await sql`vacuum (analyze)`;
  await sql`checkpoint`;
  await sql.end();
  return { url: url.href, parent };
}

async function fill(sql: Sql, parent: AccountId, first: number, count: number): Promise<void> {
  const id = sql`(lpad(to_hex(i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid`;
  const range = sql`generate_series(${first}::int, ${first + count - 1}::int) i`;
  await sql`
    insert into account (id, name, status, sub_accounts, active_sub_accounts)
    values (${parent}, 'Parent', 'active', ${count}, ${count})`;
  await sql`
    insert into account (id, parent_id, name, external_id, status)
    select ${id}, ${parent}, 'Sub-account ' || i, 'ext-' || i, 'active' from ${range}`;
  await sql`
    insert into usage_daily
    select ${parent}, ${id}, ${new Date(year.fromMs)}::date + d, ${id}, 100 + i, 90, 10 + i, 1, 0, 10000, 100000
    from generate_series(0, ${days - 1}::int) d, ${range}`;
  await sql`alter table usage_hourly disable trigger user`;
  await sql`
    insert into usage_hourly
    select ${parent}, ${id}, ${new Date(lastDay - 2 * dayMs)}::timestamptz + h * interval '1 hour', ${id},
      5, 4, 1, 0, 0, 500, 5000
    from generate_series(0, 47) h, ${range}`;
  await sql`alter table usage_hourly enable trigger user`;
}

function open(connect: Connect): { readonly usage: UsageStore; readonly close: () => Promise<void> } {
  const pool = new Pool(connect, 1);
  const runner = pool.withDeadline(30_000);
  return { usage: usageStore(runner, runner, runner), close: () => pool.close() };
}

/** Behind the newest line of the n-th sub-account. */
function positionAt(n: number): string {
  return `${idOf(n)} ${lastDay} ${idOf(n)}`;
}

/** The higher, the newer. */
function idOf(n: number): AccountId {
  const hex = n.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${hex}` as AccountId;
}

function newId(): AccountId {
  return uuidV7(Date.now(), randomBytes(10)) as AccountId;
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? NaN;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
