/** Many processes that count for many accounts and add to one store; see `bench/metering.ts`. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '../../src/adapters/postgres/schema/migrate.ts';
import { connectByUrl, type Sql } from '../../src/adapters/postgres/connection/sql.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { startPostgres } from './postgres-server.ts';

export interface FleetOptions {
  readonly processes: number;
  readonly accounts: number;
  /** Requests that all processes together count in a second. */
  readonly rate: number;
  readonly seconds: number;
  /** Milliseconds after which the rest of the backlog is given up. */
  readonly mostMs: number;
  /** Folder of the journals. */
  readonly dir: string;
}

/** Order to one process. */
export interface Counting extends FleetOptions {
  readonly url: string;
  readonly parents: number;
}

/** Requests of one process that were counted and lost; failed attempts to add; milliseconds until all was added. */
export interface Counted {
  readonly counted: number;
  readonly failed: number;
  readonly lost: number;
  readonly ms: number;
}

const accountsOfParent = 1_000;

/** Id of the n-th account; the first accounts are the parents. */
export function accountOf(n: number): AccountId {
  const hex = n.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${hex}` as AccountId;
}

/** Measures how fast a fleet adds counts, if each request is for a random account. */
export async function measureFleet(options: FleetOptions): Promise<string> {
  const server = await startPostgres(process.env['TEST_POSTGRES_BIN'] ?? '/usr/lib/postgresql/15/bin');
  const dir = mkdtempSync(join(options.dir, 'usage-fleet-'));
  const sql = connectByUrl(server.url, 600_000)();
  try {
    const parents = Math.ceil(options.accounts / accountsOfParent);
    await migrate({ run: async (work) => work(sql) });
    await makeAccounts(sql, options.accounts, parents);
    const order: Counting = {
      ...options,
      rate: options.rate / options.processes,
      dir,
      url: server.url,
      parents,
    };
    const all = await Promise.all(Array.from({ length: options.processes }, () => countIn(order)));
    const [stored] = await sql<[{ requests: number; rows: number }]>`
      select coalesce(sum(requests), 0)::bigint as requests, count(*) as rows from usage_hourly`;
    return summary(all, stored.requests, options);
  } finally {
    await sql.end();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function countIn(order: Counting): Promise<Counted> {
  const child = fork(new URL('counting-process.ts', import.meta.url));
  child.send(order);
  const ended = once(child, 'exit').then(() => {
    throw new Error('a process ended before it had added its counts');
  });
  const [counted] = (await Promise.race([once(child, 'message'), ended])) as [Counted];
  return counted;
}

function summary(all: readonly Counted[], stored: number, { seconds }: FleetOptions): string {
  const sum = (of: keyof Counted): number => all.reduce((total, each) => total + each[of], 0);
  const tookMs = Math.max(...all.map(({ ms }) => ms));
  const waiting = sum('counted') - sum('lost') - stored;
  return [
    `${all.length} processes counted ${sum('counted')} requests in ${seconds} s`,
    `${stored} were added in ${(tookMs / 1_000).toFixed(1)} s: ${Math.round((stored / tookMs) * 1_000)} a second`,
    `${sum('failed')} attempts failed; ${sum('lost')} requests lost, ${waiting} still waiting`,
    `the backlog was gone ${Math.max(0, tookMs / 1_000 - seconds).toFixed(1)} s after the last request`,
  ].join('\n');
}

/** Parents with equal numbers of sub-accounts; each parent's key acts for all of them. */
async function makeAccounts(sql: Sql, accounts: number, parents: number): Promise<void> {
  const id = sql`(lpad(to_hex(i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid`;
  const parent = sql`(lpad(to_hex(i % ${parents}::int), 12, '0') || '70008000' || lpad(to_hex(i % ${parents}::int), 12, '0'))::uuid`;
  await sql`alter table account disable trigger user`;
  await sql`
    insert into account (id, name, status, sub_accounts, active_sub_accounts)
    select ${id}, 'Parent', 'active', ${accountsOfParent - 1}, ${accountsOfParent - 1} from generate_series(0, ${parents - 1}::int) i`;
  await sql`
    insert into account (id, parent_id, name, external_id, status)
    select ${id}, ${parent}, 'Sub-account', 'ext-' || i, 'active' from generate_series(${parents}::int, ${accounts - 1}::int) i`;
  await sql`alter table account enable trigger user`;
  await sql`vacuum (analyze) account`;
}
