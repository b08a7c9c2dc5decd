// class: app
/** The database's functions, as their files say. */
import { readdir, readFile } from 'node:fs/promises';
import t from 'tap';
import type { Statements } from '../../../../src/adapters/postgres/connection/sql.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import { migrated, rawSql } from '../../../support/store.ts';

const folder = new URL('../../../../src/adapters/postgres/schema/functions/', import.meta.url);

/** Definitions of functions, by name and types of arguments. */
async function functionsOf(sql: Statements): Promise<Readonly<Record<string, string>>> {
  const rows = await sql<{ name: string; definition: string }[]>`
    select oid::regprocedure::text as name, pg_get_functiondef(oid) as definition from pg_proc
    where pronamespace = current_schema()::regnamespace order by 1`;
  return Object.fromEntries(rows.map(({ name, definition }) => [name, definition]));
}

t.test('each file holds one function, which it is named after, and a database has no other', async (t) => {
  const sql = rawSql(t, await freshDatabase(t, migrated));
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.sql'));
  const inForce = await functionsOf(sql);
  t.same(
    Object.keys(inForce).map((name) => name.replace(/\(.*$/, '')),
    files.map((file) => file.replace(/^.*[/\\]|\.sql$/g, '')).sort(),
  );
  // Bodies are checked here: while a database is migrated, functions that they call may not be there yet.
  for (const file of files) await sql.unsafe(await readFile(new URL(file, folder), 'utf8')).simple();
  t.same(await functionsOf(sql), inForce);
});

t.test('a function that rules out plans rules out their compilation', async (t) => {
  // A plan that has to use what was ruled out looks expensive, so behind a pooler, where the connection's own `jit = off`
  // is not in force, PostgreSQL would compile it: 150 ms a call.
  const sql = rawSql(t, await freshDatabase(t, migrated));
  const rows = await sql<{ name: string; settings: string[] }[]>`
    select proname as name, proconfig as settings from pg_proc
    where pronamespace = current_schema()::regnamespace and proconfig::text like '%enable\_%'`;
  t.ok(rows.length > 10);
  for (const { name, settings } of rows) t.ok(settings.includes('jit=off'), name);
});
