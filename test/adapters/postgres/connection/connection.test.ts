// class: app
import postgres from 'postgres';
import t from 'tap';
import { Connection } from '../../../../src/adapters/postgres/connection/connection.ts';
import { connectByUrl } from '../../../../src/adapters/postgres/connection/sql.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import { rawSql } from '../../../support/store.ts';

t.test(
  'a statement that has ended, well or not, loses its arguments; its rows are not touched',
  async (t) => {
    const url = await freshDatabase(t);
    const connection = new Connection(() => postgres(url, { max: 1 }) as never);
    t.teardown(() => connection.close());
    const statements: object[] = [];
    const rows = await connection.run((sql) => {
      const statement = sql<[{ names: string[] }]>`select ${sql.json(['a', 'b'])}::jsonb as names`;
      statements.push(statement);
      return statement;
    }, 5_000);
    t.same(rows[0].names, ['a', 'b']);
    t.match(statements, [{ args: [], parameters: [] }]);
    const failed = connection.run((sql) => {
      const statement = sql`select ${'x'}::int`;
      statements.push(statement);
      return statement;
    }, 5_000);
    await t.rejects(failed);
    t.same(
      statements.map((statement) => 'args' in statement && statement.args),
      [[], []],
    );
  },
);

t.test('a connection that the server ends between two statements costs none of them', async (t) => {
  const url = await freshDatabase(t);
  let onClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (onClosed = resolve));
  const connection = new Connection(connectByUrl(url, 5_000), { onclose: () => onClosed() });
  t.teardown(() => connection.close());
  const pid = async (): Promise<number> =>
    (await connection.run((sql) => sql<[{ pid: number }]>`select pg_backend_pid() as pid`, 5_000))[0].pid;
  const first = await pid();
  await rawSql(t, url)`select pg_terminate_backend(${first})`;
  await closed;
  t.not(await pid(), first);
});

t.test('statements go out without waiting for those before, each with its own result', async (t) => {
  const connection = new Connection(connectByUrl(await freshDatabase(t), 5_000));
  t.teardown(() => connection.close());
  const ask = (n: number, divisor: number): Promise<number> =>
    connection.run(
      async (sql) => (await sql<[{ n: number }]>`select ${n}::int / ${divisor}::int as n`)[0].n,
      5_000,
    );
  t.equal(await ask(1, 1), 1);
  const results = await Promise.allSettled([ask(2, 1), ask(3, 0), ask(4, 1)]);
  t.same(
    results.map((each) => (each.status === 'fulfilled' ? each.value : each.status)),
    [2, 'rejected', 4],
  );
});
