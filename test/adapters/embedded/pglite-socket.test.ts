// class: app
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import postgres from 'postgres';
import t from 'tap';
import { PgliteSocket } from '../../../src/adapters/embedded/pglite-socket.ts';
import { Connection } from '../../../src/adapters/postgres/connection/connection.ts';
import { baseOptions } from '../../../src/adapters/postgres/connection/sql.ts';
import { madeDataDir } from '../../support/embedded.ts';

t.test('a connection given up in the middle of a transaction leaves nothing to the next', async (t) => {
  const db = await PGlite.create(join(await madeDataDir(t), 'pglite'));
  t.teardown(() => db.close());
  const connection = new Connection(() =>
    postgres({ ...baseOptions, socket: () => new PgliteSocket(db) } as typeof baseOptions),
  );
  t.teardown(() => connection.close());
  await connection.run((sql) => sql`create table written (id int)`, 5_000);
  const stuck = connection.run(
    (sql) =>
      sql.begin(async (tx) => {
        await tx`insert into written values (1)`;
        await tx`set local work_mem = '1MB'`;
        await new Promise(() => undefined);
      }),
    300,
  );
  await t.rejects(stuck, { name: 'ProblemError' });
  t.same([...(await connection.run((sql) => sql`select * from written`, 5_000))], []);
  t.equal(db.isInTransaction(), false);
  await t.rejects(
    connection.run((sql) => sql`select no_such_column`, 5_000),
    { cause: { code: '42703' } },
  );
  const long = 'x'.repeat(3_000_000);
  const [row] = await connection.run((sql) => sql<[{ long: string }]>`select ${long}::text as long`, 5_000);
  t.ok(row.long === long, 'messages longer than any buffer go through');
});
