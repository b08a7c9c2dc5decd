/** A migrated store for tests: PostgreSQL, since that is what every other store is held to. */
import type { Runner } from '../../src/adapters/postgres/connection/pool.ts';
import { migrate } from '../../src/adapters/postgres/schema/migrate.ts';
import { connectByUrl, type Sql } from '../../src/adapters/postgres/connection/sql.ts';
import { openPostgres, type PostgresOptions, type Store } from '../../src/adapters/postgres/store.ts';
import type { ApiKey } from '../../src/domain/api-key.ts';
import type { ParentAccount, SubAccount } from '../../src/domain/account.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { ProblemError, type ProblemCode } from '../../src/domain/problem.ts';
import type { IdempotencyClaim } from '../../src/ports/changes.ts';
import type { Committed, NewParent, NewSubAccount, Page, TenantStore } from '../../src/ports/tenant-store.ts';
import type { NewApiKey } from '../../src/ports/api-keys.ts';
import { keyDraft, newAccountId, subAccountDraft } from './drafts.ts';
import { eventually } from './eventually.ts';
import { freshDatabase, type Template } from './postgres.ts';
import type { Scope } from './servers.ts';
import { longMs, unhurried } from './unhurried.ts';

/** A database with the present schema, copied rather than migrated anew. */
export const migrated: Template = {
  name: `migrated_${process.ppid}`,
  async fill(url) {
    const sql = connectByUrl(url, 60_000)();
    await migrate(over(sql));
    await sql.end();
  },
  // No replica has ever had a lease from it; left alone, a copy would have its writers wait for those of the original.
  async copied(url) {
    const sql = connectByUrl(url, 60_000)();
    await sql`select coherence_name()`;
    await sql`update coherence_seq set adopted = marker::text`;
    await sql.end();
  },
};

/** A store in a database of its own, closed and dropped with the test. */
export async function freshStore(
  t: Scope,
  options: Partial<PostgresOptions> = {},
): Promise<{ readonly url: string; readonly store: Store; readonly sql: Sql }> {
  const url = await freshDatabase(t, migrated);
  const store = storeAt(t, url, options);
  let sql: Sql | undefined;
  return {
    url,
    store,
    /** Made when it is first asked for, see {@link rawSql}. */
    get sql() {
      return (sql ??= rawSql(t, url));
    },
  };
}

/** A store over a database that is there, closed with the test. */
export function storeAt(t: Scope, url: string, options: Partial<PostgresOptions> = {}): Store {
  const store = openPostgres({ url, maxConnections: 4, deadlines: unhurried.deadlines, ...options });
  t.teardown(() => store.close());
  return store;
}

/** A runner without deadlines over one connection. */
export function over(sql: Sql): Runner {
  return { run: async (work) => work(sql) };
}

/** A connection to look behind a store's back. */
export function rawSql(t: Scope, url: string): Sql {
  const sql = connectByUrl(url, longMs)();
  t.teardown(() => sql.end({ timeout: 1 }));
  return sql;
}

/** Creates a parent that nothing stands in the way of. */
export async function createParent(
  tenants: TenantStore,
  draft: Partial<NewParent> = {},
  claim: IdempotencyClaim | null = null,
): Promise<ParentAccount> {
  const made = await tenants.createParent({ id: newAccountId(), name: 'Parent', ...draft }, claim);
  if ('value' in made) return made.value;
  throw new Error(`not created: ${JSON.stringify(made)}`);
}

/** Creates a sub-account that nothing stands in the way of. */
export async function createSub(
  tenants: TenantStore,
  parent: AccountId,
  draft: Partial<NewSubAccount> = {},
): Promise<Committed<SubAccount>> {
  const made = await tenants.createSubAccount(parent, subAccountDraft(draft), 1_000_000);
  if ('value' in made) return made;
  throw new Error(`not created: ${JSON.stringify(made)}`);
}

/** Creates a key that nothing stands in the way of. */
export async function createKey(
  tenants: TenantStore,
  account: AccountId,
  draft: Partial<NewApiKey> = {},
): Promise<{ readonly key: ApiKey; readonly digest: NewApiKey['digest'] }> {
  const asked = keyDraft(draft);
  const key = await tenants.createKey(account, asked, 1_000_000);
  if (key !== null && 'id' in key) return { key, digest: asked.digest };
  throw new Error(`not created: ${JSON.stringify(key)}`);
}

/** How many statements of the database wait for a lock. Not to be asked inside a transaction, which sees what it saw first. */
export async function lockWaiters(sql: Pick<Sql, 'unsafe'>): Promise<number> {
  const [row] = await sql.unsafe<[{ n: number }]>(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row.n;
}

/** Resolves once that many statements of the database wait for a lock. */
export function waitForLocks(sql: Pick<Sql, 'unsafe'>, count: number): Promise<void> {
  return eventually(async () => (await lockWaiters(sql)) === count);
}

/** How many pages of the database a call of a function reads. */
export async function pagesRead(sql: Pick<Sql, 'unsafe'>, call: string): Promise<number> {
  const [row] = await sql.unsafe<[{ readonly 'QUERY PLAN': [{ readonly Plan: Record<string, number> }] }]>(
    `explain (analyze, buffers, format json) select ${call}`,
  );
  const { 'Shared Hit Blocks': hit = 0, 'Shared Read Blocks': read = 0 } = row['QUERY PLAN'][0].Plan;
  return hit + read;
}

/** Pages of a list, one after the other. @param positionOf a row, for the page that begins after it */
export async function everyPage<T, A extends string>(
  list: (page: { readonly limit: number; readonly after?: A }) => Promise<Page<T>>,
  limit: number,
  positionOf: (row: T) => A,
): Promise<T[]> {
  const rows: T[] = [];
  for (let more = true; more;) {
    const last = rows.at(-1);
    const page = await list({ limit, ...(last !== undefined && { after: positionOf(last) }) });
    rows.push(...page.rows);
    more = page.hasMore;
  }
  return rows;
}

/** The code of the problem a call rejects with; `undefined` where it resolves. */
export async function problemCode(call: Promise<unknown>): Promise<ProblemCode | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof ProblemError) return error.problem.code;
    throw error;
  }
}

/** Tables with a row that has the text, in any column. */
export async function tablesWith(sql: Sql, text: string): Promise<readonly string[]> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1`;
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql`select from ${sql(name)} t where t::text like ${`%${text}%`} limit 1`;
    if (rows.length > 0) found.push(name);
  }
  return found;
}
