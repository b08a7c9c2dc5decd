// class: real
import t from 'tap';
import postgres from 'postgres';
import { freshDatabase, startPostgres, type Template } from './postgres.ts';

t.test('a fresh database is empty and no other test sees it', async (t) => {
  const [first, second] = await Promise.all([freshDatabase(t), freshDatabase(t)]);
  t.not(first, second);
  const sql = connect(t, first);
  await sql`create table here (id int)`;
  t.equal((await tables(sql)).length, 1);
  t.equal((await tables(connect(t, second))).length, 0);
});

t.test('a template is filled once and copied', async (t) => {
  let fills = 0;
  const template: Template = {
    name: `support_${process.pid}`,
    fill: async (url) => {
      fills += 1;
      const sql = postgres(url, { max: 1 });
      await sql`create table filled (id int)`;
      await sql.end();
    },
  };
  const urls = await Promise.all([1, 2, 3].map(() => freshDatabase(t, template)));
  t.equal(fills, 1);
  for (const url of urls) t.equal((await tables(connect(t, url))).length, 1);
});

t.test('a database goes away with the test that asked for it', async (t) => {
  let url = '';
  await t.test('inner', async (inner) => {
    url = await freshDatabase(inner);
    // Left open on purpose: a forgotten connection must not keep the database.
    await postgres(url, { max: 1, onclose: () => undefined })`select 1`.catch(() => undefined);
  });
  await t.rejects(connect(t, url)`select 1`, { code: '3D000' });
});

t.test('a private server keeps address and data through kill and restart', async (t) => {
  const server = await startPostgres(t, { max_connections: '20' });
  const { url } = server;
  const sql = connect(t, url);
  t.match(await sql`show max_connections`, [{ max_connections: '20' }]);
  await sql`create table kept (id int)`;

  await server.kill();
  await t.rejects(sql`select 1`);
  await server.start();
  t.equal(server.url, url);
  t.equal((await tables(sql)).length, 1);

  await server.restart();
  t.equal((await tables(sql)).length, 1);
});

t.test('a paused server answers nothing until it is resumed, on open connections too', async (t) => {
  const server = await startPostgres(t);
  const [sql, running] = [connect(t, server.url), connect(t, await freshDatabase(t))];
  const time = (of: postgres.Sql) =>
    of<[{ at: number }]>`select extract(epoch from clock_timestamp())::float8 as at`;
  await time(sql);
  await server.pause();
  const answered = time(sql).execute();
  await time(running);
  const [resumed] = await time(running);
  await server.resume();
  t.ok((await answered)[0].at >= resumed.at);
});

function connect(t: { teardown(end: () => unknown): unknown }, url: string): postgres.Sql {
  const sql = postgres(url, { max: 1, backoff: () => 0.02, onnotice: () => undefined });
  t.teardown(() => sql.end({ timeout: 1 }));
  return sql;
}

function tables(sql: postgres.Sql): Promise<postgres.Row[]> {
  return sql`select from information_schema.tables where table_schema = 'public'`;
}
