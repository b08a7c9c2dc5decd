import postgres from 'postgres';
import t from 'tap';
import { Connection } from '../../../../src/adapters/postgres/connection/connection.ts';
import { freshDatabase } from '../../../support/postgres.ts';

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
