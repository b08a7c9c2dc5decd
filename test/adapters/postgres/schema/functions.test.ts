// class: app
/** The database as its files say: functions one by one, steps that were released, and the same catalogue whatever it grew from. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import t from 'tap';
import type { Statements } from '../../../../src/adapters/postgres/connection/sql.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import { databaseOf010, of010, register010 } from '../../../support/release-010.ts';
import { migrated, rawSql } from '../../../support/store.ts';

const schema = new URL('../../../../src/adapters/postgres/schema/', import.meta.url);

/** A released step makes it of what the server lets it read. */
const madeForTheServer = 'coherence_incarnation()';

/** Definitions of functions, by name and types of arguments. */
async function functionsOf(sql: Statements): Promise<Readonly<Record<string, string>>> {
  const rows = await sql<{ name: string; definition: string }[]>`
    select oid::regprocedure::text as name, pg_get_functiondef(oid) as definition from pg_proc
    where pronamespace = current_schema()::regnamespace order by 1`;
  return Object.fromEntries(rows.map(({ name, definition }) => [name, definition]));
}

/** Everything else that statements depend on. */
async function catalogueOf(sql: Statements): Promise<readonly string[]> {
  const rows = await sql<{ line: string }[]>`
    select concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attcollation::regcollation,
        pg_get_expr(d.adbin, d.adrelid)) as line
      from pg_class c join pg_attribute a on a.attrelid = c.oid
        left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'v') and a.attnum > 0 and not a.attisdropped
    union all select concat_ws(' ', c.relname, c.relkind, c.relpersistence, c.reloptions) from pg_class c
      where c.relnamespace = current_schema()::regnamespace
    union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
      where connamespace = current_schema()::regnamespace
    union all select indexdef from pg_indexes where schemaname = current_schema()
    union all select pg_get_triggerdef(g.oid) from pg_trigger g where not g.tgisinternal
    union all select pg_get_viewdef(c.oid) from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'v'
    order by 1`;
  return rows.map(({ line }) => line);
}

t.test('a migrated database has the functions of the folder, and no other', async (t) => {
  const sql = rawSql(t, await freshDatabase(t, migrated));
  const names = await readdir(new URL('functions/', schema), { recursive: true });
  const files = names.filter((name) => name.endsWith('.sql'));
  const inForce = await functionsOf(sql);
  t.equal(Object.keys(inForce).length, files.length + [madeForTheServer].length);
  // Bodies are checked here: while a database is migrated their tables may not be there yet.
  for (const file of files)
    await sql.unsafe(await readFile(new URL(`functions/${file}`, schema), 'utf8')).simple();
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

t.test('a database of 0.1.0 becomes what a fresh one is', async (t) => {
  const { sql, store } = await databaseOf010(t);
  const old = of010(sql);
  const parent = await old.createParent();
  await old.createKey((await old.createSub(parent)).account.id);
  await register010(sql, 'old');
  await store.migrate();
  const fresh = rawSql(t, await freshDatabase(t, migrated));
  t.same(await functionsOf(sql), await functionsOf(fresh));
  const expected = (await catalogueOf(fresh)).filter((line) => !line.startsWith('schema_migration'));
  t.same(
    (await catalogueOf(sql)).filter((line) => !line.startsWith('schema_migration')),
    expected,
  );
});

t.test('released steps are what they were', async (t) => {
  const text = await readFile(new URL('released.json', schema), 'utf8');
  const released = Object.entries(JSON.parse(text) as Record<string, string>);
  t.ok(released.length >= 6);
  for (const [file, checksum] of released) {
    const step = await readFile(new URL(`steps/${file}`, schema));
    t.equal(createHash('sha256').update(step).digest('hex'), checksum, file);
  }
});
