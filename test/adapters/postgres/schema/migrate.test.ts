// class: app
import t from 'tap';
import {
  checkSchema,
  SchemaMismatch,
  UnusableDatabase,
} from '../../../../src/adapters/postgres/schema/applied.ts';
import { readSchemaFiles } from '../../../../src/adapters/postgres/schema/files.ts';
import { migrate } from '../../../../src/adapters/postgres/schema/migrate.ts';
import { nextSchema, step } from '../../../support/next-schema.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import { createParent, migrated, over, problemCode, rawSql, storeAt } from '../../../support/store.ts';

const own = await readSchemaFiles();
const { number } = own.functions;
/** A function that says which version replaced it last. */
const saying = (version: string): string =>
  `create or replace function erased_name() returns text language sql immutable as $$ select '${version}' $$;`;
const column = step(own.steps.length + 1, 'note', 'alter table plan add column note text', own.steps.length);

t.test('of many that start at once one makes the database, and all go on', async (t) => {
  const url = await freshDatabase(t);
  const steps: string[] = [];
  const numbers = await Promise.all(
    Array.from({ length: 5 }, () => migrate(over(rawSql(t, url)), { onStep: (step) => steps.push(step) })),
  );
  t.same(new Set(numbers), new Set([number]));
  t.same(steps, ['base']);
});

t.test('a migrated database is left alone', async (t) => {
  const sql = rawSql(t, await freshDatabase(t, migrated));
  const before = await sql`select * from schema_base`;
  await migrate(over(sql), { onStep: (step) => t.fail(`ran ${step}`) });
  t.same(await sql`select * from schema_base`, before);
});

t.test(
  'where functions may not read the write position, the timeline comes from the control file',
  async (t) => {
    const sql = rawSql(t, await freshDatabase(t));
    const role = `plain_${process.pid}`;
    await sql.unsafe(`create role ${role}; grant all on schema public to ${role}`).simple();
    t.teardown(() => sql.unsafe(`reset role; drop owned by ${role}; drop role ${role}`).simple());
    await sql`revoke execute on function pg_current_wal_lsn() from public`;
    await sql.unsafe(`set role ${role}`);
    await migrate(over(sql));
    const [row] = await sql`
      select coherence_place() as place, timeline_id::text as timeline from pg_control_checkpoint()`;
    t.match(row?.['place'], new RegExp(`^\\d+-${row?.['timeline']}-\\d+-\\d+$`));
  },
);

t.test('a base that fails leaves nothing behind', async (t) => {
  const sql = rawSql(t, await freshDatabase(t));
  await sql`create table api_key (in_the_way int)`;
  await t.rejects(migrate(over(sql)), { code: '42P07' });
  const tables = await sql`select table_name from information_schema.tables where table_schema = 'public'`;
  t.same(
    tables.map((table) => table['table_name'] as string),
    ['api_key'],
  );
});

t.test(
  'a database of 0.1.0, 0.2.0 or another development build is refused, with how to begin anew',
  async (t) => {
    for (const [newest, name] of [
      [6, /was made by version 0\.1\.0, .* begin anew/],
      [18, /was made by version 0\.2\.0, .* empty DATA_DIR.*CHANGELOG/],
      [32, /development build before 1\.0\.0/],
    ] as const) {
      const sql = rawSql(t, await freshDatabase(t));
      await sql`create table schema_migration as select ${newest}::int as version`;
      await t.rejects(migrate(over(sql)), { name: 'UnusableDatabase', message: name });
    }
    const sql = rawSql(t, await freshDatabase(t, migrated));
    await sql`update schema_base set checksum = 'another base'`;
    const refused = { name: 'UnusableDatabase', message: /its base is another base, .* begin anew/ };
    await t.rejects(migrate(over(sql)), refused);
    await t.rejects(checkSchema(sql, own), refused);
  },
);

t.test('a step that was changed after it had been applied is rejected', async (t) => {
  const sql = rawSql(t, await freshDatabase(t, migrated));
  await migrate(over(sql), {}, over(sql), await nextSchema([column]));
  const changed = await nextSchema([step(column.number, 'note', 'alter table plan add column note int')]);
  await t.rejects(migrate(over(sql), {}, over(sql), changed), UnusableDatabase);
});

t.test('a newer database is rejected, unless its new steps suit older code', async (t) => {
  const url = await freshDatabase(t, migrated);
  const sql = rawSql(t, url);
  const steps: string[] = [];
  await migrate(over(sql), { onStep: (name) => steps.push(name) }, over(sql), await nextSchema([column]));
  t.same(steps, [`${String(column.number).padStart(4, '0')} note`]);
  t.equal(await migrate(over(sql)), number);

  const breaking = step(column.number + 1, 'breaking', 'alter table plan drop column note');
  await migrate(over(sql), {}, over(sql), await nextSchema([column, breaking]));
  await t.rejects(migrate(over(sql)), /newer than this version/);
  const store = storeAt(t, url);
  await t.rejects(store.migrate(), SchemaMismatch);
  t.equal(await problemCode(store.ping()), 'unavailable');
});

t.test('functions of a higher number replace others; a lower version leaves what it finds', async (t) => {
  const sql = rawSql(t, await freshDatabase(t, migrated));
  const said = async () => (await sql<[{ name: string }]>`select erased_name() as name`)[0].name;
  const first = await said();
  const next = await nextSchema([], { number: number + 1, text: saying('next') });
  await t.rejects(checkSchema(sql, next), {
    name: 'SchemaMismatch',
    message: /lacks this version's functions/,
  });
  t.equal(await migrate(over(sql), {}, over(sql), next), number + 1);
  t.equal(await said(), 'next');
  t.equal(await migrate(over(sql)), number + 1);
  await checkSchema(sql, own);
  t.equal(await said(), 'next', `not ${first} again`);
  const other = await nextSchema([], { number: number + 1, text: saying('other') });
  const refused = { name: 'UnusableDatabase', message: /the number \d+, too, but another text/ };
  await t.rejects(migrate(over(sql), {}, over(sql), other), refused);
  await t.rejects(checkSchema(sql, other), refused);
  t.equal(await said(), 'next');
});

t.test('a new database of a later version has the steps and the functions of that version', async (t) => {
  const sql = rawSql(t, await freshDatabase(t));
  const next = await nextSchema([column], { number: number + 1, text: saying('next') });
  const steps: string[] = [];
  t.equal(await migrate(over(sql), { onStep: (name) => steps.push(name) }, over(sql), next), number + 1);
  t.same(steps, ['base']);
  t.match(await sql`select note, erased_name() as name from plan right join fleet on true`, [
    { note: null, name: 'next' },
  ]);
});

t.test('a database that is not migrated yet is unavailable, and works once it is', async (t) => {
  const url = await freshDatabase(t);
  const store = storeAt(t, url);
  await t.rejects(checkSchema(rawSql(t, url), own), SchemaMismatch);
  t.equal(await problemCode(store.ping()), 'unavailable');
  t.equal(await problemCode(createParent(store.tenants)), 'unavailable');
  await store.migrate();
  await store.ping();
  t.match(await createParent(store.tenants), { status: 'active' });
});
