/**
 * Measures whether management costs the same under a parent with a thousand and with a million sub-accounts, through
 * the very store the gateway uses, on a PostgreSQL of its own. Prints the table of `docs/maintainers/scale.md`, and with `--plans`
 * how PostgreSQL went about it.
 *
 *     npm run bench:store -- [--plans]
 */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { Hints } from '../src/adapters/postgres/coherence/hints.ts';
import { migrate } from '../src/adapters/postgres/schema/migrate.ts';
import { Pool } from '../src/adapters/postgres/connection/pool.ts';
import { connectByUrl, type Connect, type Sql } from '../src/adapters/postgres/connection/sql.ts';
import { Changes } from '../src/adapters/postgres/tenants/changes.ts';
import { tenantStore } from '../src/adapters/postgres/tenants/tenant-store.ts';
import { uuidV7, type AccountId } from '../src/domain/ids.ts';
import type { TenantStore } from '../src/ports/tenant-store.ts';
import { startPostgres } from './lib/postgres-server.ts';
import { explaining } from './lib/plans.ts';

const sizes = [1_000, 1_000_000] as const;
const pageLimit = 50;
const rounds = 400;

/** A parent with its sub-accounts, in a database of its own. */
interface Database {
  readonly parent: AccountId;
  readonly size: number;
  readonly url: string;
  readonly tenants: TenantStore;
  close(): Promise<void>;
}

type Operation = (database: Database) => Promise<unknown>;

const operations: Readonly<Record<string, Operation>> = {
  create: ({ tenants, parent }) =>
    tenants.createSubAccount(
      parent,
      { id: newId(), name: 'New', externalId: randomBytes(8).toString('hex'), metadata: {} },
      10_000_000,
    ),
  get: ({ tenants, parent, size }) => tenants.getSubAccount(parent, filledId(random(size))),
  update: ({ tenants, parent, size }) =>
    tenants.updateSubAccount(parent, filledId(random(size)), { name: `Named ${random(1e9)}` }),
  'list, page 1': ({ tenants, parent }) => tenants.listSubAccounts(parent, {}, { limit: pageLimit }),
  'list, page 10,000 (or the last)': ({ tenants, parent, size }) =>
    tenants.listSubAccounts(parent, {}, { limit: pageLimit, after: filledId(afterPages(9_999, size)) }),
  'list, status=deactivated, page 1': ({ tenants, parent }) =>
    tenants.listSubAccounts(parent, { status: 'deactivated' }, { limit: pageLimit }),
  'list, external_id=…': ({ tenants, parent, size }) =>
    tenants.listSubAccounts(parent, { externalId: `ext-${random(size)}` }, { limit: pageLimit }),
};

const server = await startPostgres(process.env['TEST_POSTGRES_BIN'] ?? '/usr/lib/postgresql/15/bin');
try {
  const databases: Database[] = [];
  for (const size of sizes) databases.push(await prepare(server.url, size));
  await (process.argv.includes('--plans') ? printPlans(databases) : printTable(databases));
  for (const database of databases) await database.close();
} finally {
  await server.stop();
}

/** Both sizes take turns, so that whatever else the machine does disturbs both alike. */
async function printTable(databases: readonly Database[]): Promise<void> {
  print('| operation | 1,000 | 1,000,000 | ratio |\n|---|---|---|---|');
  for (const [name, operation] of Object.entries(operations)) {
    const times = databases.map((): number[] => []);
    for (let round = -50; round < rounds; round++) {
      for (const [i, database] of databases.entries()) {
        const began = performance.now();
        await operation(database);
        if (round >= 0) times[i]?.push(performance.now() - began);
      }
    }
    const [small = NaN, large = NaN] = times.map(median);
    print(`| ${name} | ${small.toFixed(2)} ms | ${large.toFixed(2)} ms | ${(large / small).toFixed(2)} |`);
  }
}

async function printPlans(databases: readonly Database[]): Promise<void> {
  for (const database of databases) {
    const plans: string[] = [];
    const explained = open(explaining(database.url, (plan) => plans.push(plan)));
    for (const [name, operation] of Object.entries(operations)) {
      // A statement prepared on a connection is planned anew a few times before its plan is kept.
      for (let i = 0; i < 8; i++) {
        plans.length = 0;
        await operation({ ...database, tenants: explained.tenants });
      }
      print(`\n## ${name}, ${database.size} sub-accounts\n\n${plans.join('\n\n')}`);
    }
    await explained.close();
  }
}

/**
 * A database with one parent: every tenth of its sub-accounts is deactivated. A neighbour has a fifth as many, all of
 * them newer, which a list of the first one's must not have to pass.
 */
async function prepare(serverUrl: string, size: number): Promise<Database> {
  const admin = postgres(serverUrl, { max: 1, onnotice: () => undefined });
  const name = `scale_${size}`;
  await admin.unsafe(`create database ${name}`);
  await admin.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;

  const sql = connectByUrl(url.href, 600_000)();
  await migrate({ run: async (work) => work(sql) });
  const parent = newId();
  await fill(sql, parent, 0, size);
  await fill(sql, newId(), size, size / 5);
  await sql`vacuum (analyze) account`;
  await sql`checkpoint`;
  await sql.end();
  return { parent, size, url: url.href, ...open(connectByUrl(url.href, 10_000)) };
}

/** Sub-accounts number `from` and on, as one parent's. */
async function fill(sql: Sql, parent: AccountId, from: number, count: number): Promise<void> {
  await sql`
    insert into account (id, name, status, sub_accounts, active_sub_accounts)
    values (${parent}, 'Parent', 'active', ${count}, ${count - Math.ceil(count / 10)})`;
  await sql`
    insert into account (id, parent_id, name, external_id, status, deactivated_at)
    select (lpad(to_hex(i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid, ${parent}, 'Sub-account ' || i,
      'ext-' || i, case when i % 10 = 0 then 'deactivated' else 'active' end, case when i % 10 = 0 then now() end
    from generate_series(${from}::int, ${from + count - 1}::int) i`;
}

function open(connect: Connect): Pick<Database, 'tenants' | 'close'> {
  const pool = new Pool(connect, 1);
  const db = pool.withDeadline(30_000);
  return { tenants: tenantStore(db, new Changes(db, new Hints())), close: () => pool.close() };
}

/** Id of the n-th sub-account that was filled in; the higher, the newer. */
function filledId(n: number): AccountId {
  const hex = n.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${hex}` as AccountId;
}

/** The row after which a page starts, where pages before it were full. */
function afterPages(pages: number, size: number): number {
  return size - Math.min(pages * pageLimit, size - pageLimit);
}

function newId(): AccountId {
  return uuidV7(Date.now(), randomBytes(10)) as AccountId;
}

function random(below: number): number {
  return Math.floor(Math.random() * below);
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? NaN;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
