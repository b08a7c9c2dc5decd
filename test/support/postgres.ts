/** Real PostgreSQL for tests: a database of the run's shared server, or a private server to maltreat. */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { fromRunner, startPrivateServer, type PrivateServer, type Scope } from './servers.ts';

/** How to make a database once and copy it afterwards. */
export interface Template {
  /** Tells templates apart: lower-case letters, digits and `_`. */
  name: string;
  /** Fills the empty database at `url`; must leave no connection open. */
  fill: (url: string) => Promise<void>;
  /** What a copy needs beside what it was copied from. */
  copied?: (url: string) => Promise<void>;
}

/** An empty database (or a copy of `template`) on the shared server, dropped when the test ends. Returns its URL. */
export async function freshDatabase(t: Scope, template?: Template): Promise<string> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  const source = template && (await filled(template));
  await administer((sql) => copyDatabase(sql, name, source ?? 'template0'));
  t.teardown(() => administer((sql) => sql.unsafe(`drop database if exists ${name} with (force)`)));
  await template?.copied?.(urlOf(name));
  return urlOf(name);
}

/** A PostgreSQL server of the test's own, which it may kill, pause and restart. `settings` are server parameters. */
export function startPostgres(t: Scope, settings: Record<string, string> = {}): Promise<PrivateServer> {
  return startPrivateServer(t, 'postgres', { bin: fromRunner('TEST_POSTGRES_BIN'), settings });
}

/** A standby of `primary`, which follows it until it is promoted. */
export function startStandby(t: Scope, primary: PrivateServer): Promise<PrivateServer> {
  const options = { bin: fromRunner('TEST_POSTGRES_BIN'), standbyOf: primary.url };
  return startPrivateServer(t, 'postgres', options);
}

async function filled({ name, fill }: Template): Promise<string> {
  const database = `template_${name}`;
  await administer(async (sql) => {
    // Test files run side by side: the first one fills, the others wait for it.
    await sql`select pg_advisory_lock(hashtext(${database}))`;
    const [done] = await sql`select from pg_database where datname = ${database} and datistemplate`;
    if (done) return;
    await sql.unsafe(`drop database if exists ${database} with (force)`);
    await copyDatabase(sql, database, 'template0');
    await fill(urlOf(database));
    await sql.unsafe(`alter database ${database} is_template true`);
  });
  return database;
}

/**
 * Copies the files of `source`, which takes a fifth of the processor time that writing each page to the log does.
 * PostgreSQL before 15 does so always and knows no `strategy`.
 */
async function copyDatabase(sql: postgres.Sql, name: string, source: string): Promise<void> {
  const [{ knows }] = await sql<[{ readonly knows: boolean }]>`
    select current_setting('server_version_num')::int >= 150000 as knows`;
  await sql.unsafe(`create database ${name} template ${source} ${knows ? 'strategy file_copy' : ''}`);
}

async function administer(work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(fromRunner('TEST_POSTGRES_URL'), { max: 1, onnotice: () => undefined });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}

function urlOf(database: string): string {
  const url = new URL(fromRunner('TEST_POSTGRES_URL'));
  url.pathname = `/${database}`;
  return url.href;
}
