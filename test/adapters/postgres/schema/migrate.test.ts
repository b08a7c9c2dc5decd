// class: app
import t from 'tap';
import { checkSchema, SchemaMismatch } from '../../../../src/adapters/postgres/schema/applied.ts';
import { migrate } from '../../../../src/adapters/postgres/schema/migrate.ts';
import { readMigrations } from '../../../../src/adapters/postgres/schema/migration-files.ts';
import { openPostgres } from '../../../../src/adapters/postgres/store.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import { createParent, migrated, over, problemCode, rawSql } from '../../../support/store.ts';

t.test('of many that start at once one migrates, each step once, and all go on', async (t) => {
  const url = await freshDatabase(t);
  const steps: string[] = [];
  const versions = await Promise.all(
    Array.from({ length: 5 }, () => migrate(over(rawSql(t, url)), { onStep: (step) => steps.push(step) })),
  );
  const known = await readMigrations();
  t.same(
    versions,
    Array.from({ length: 5 }, () => known.length),
  );
  t.same(
    steps,
    known.map(({ version, name }) => `${String(version).padStart(4, '0')} ${name}`),
  );
});

t.test('a migrated database is left alone', async (t) => {
  const sql = rawSql(t, await freshDatabase(t, migrated));
  const applied = await sql`select * from schema_migration order by version`;
  await migrate(over(sql), { onStep: (step) => t.fail(`ran ${step}`) });
  t.same(await sql`select * from schema_migration order by version`, applied);
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
    select coherence_cluster() as cluster, left(coherence_incarnation(), -37) as expected,
      (select timeline_id::text from pg_control_checkpoint()) as timeline`;
    t.equal(row?.['cluster'], row?.['expected']);
    t.match(row?.['cluster'], new RegExp(`^\\d+-${row?.['timeline']}$`));
  },
);

t.test('a step that fails leaves nothing behind', async (t) => {
  const sql = rawSql(t, await freshDatabase(t));
  await sql`create table api_key (in_the_way int)`;
  await t.rejects(migrate(over(sql)), { code: '42P07' });
  const tables = await sql`select table_name from information_schema.tables where table_schema = 'public'`;
  t.same(
    tables.map((table) => table['table_name'] as string),
    ['api_key'],
  );
});

t.test('a step that was changed after it had been applied is rejected', async (t) => {
  const sql = rawSql(t, await freshDatabase(t, migrated));
  await sql`update schema_migration set checksum = 'other' where version = 2`;
  await t.rejects(migrate(over(sql)), SchemaMismatch);
});

t.test('a newer database is rejected, unless its new steps suit older code', async (t) => {
  const url = await freshDatabase(t, migrated);
  const sql = rawSql(t, url);
  const newest = (await readMigrations()).length;
  await sql`
    insert into schema_migration (version, name, checksum, compatible_with)
    values (${newest + 1}, 'additive', 'c', ${newest})`;
  t.equal(await migrate(over(sql)), newest + 1);

  await sql`
    insert into schema_migration (version, name, checksum, compatible_with)
    values (${newest + 2}, 'breaking', 'c', ${newest + 2})`;
  await t.rejects(migrate(over(sql)), /newer than this version/);
  const store = openPostgres({ url, maxConnections: 5 });
  t.teardown(() => store.close());
  await t.rejects(store.migrate(), SchemaMismatch, 'so that start-up need not try again');
  t.equal(await problemCode(store.ping()), 'unavailable');
});

t.test('a database that is not migrated yet is unavailable, and works once it is', async (t) => {
  const url = await freshDatabase(t);
  const store = openPostgres({ url, maxConnections: 5 });
  t.teardown(() => store.close());
  await t.rejects(checkSchema(rawSql(t, url)), SchemaMismatch);
  t.equal(await problemCode(store.ping()), 'unavailable');
  t.equal(await problemCode(createParent(store.tenants)), 'unavailable');
  await store.migrate();
  await store.ping();
  t.match(await createParent(store.tenants), { status: 'active' });
});
