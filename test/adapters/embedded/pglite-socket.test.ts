import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import postgres from 'postgres';
import t from 'tap';
import { PgliteSocket } from '../../../src/adapters/embedded/pglite-socket.ts';
import { Lane } from '../../../src/adapters/postgres/connection/connection.ts';
import { baseOptions } from '../../../src/adapters/postgres/connection/sql.ts';
import { madeDataDir } from '../../support/embedded.ts';

t.test('a connection given up in the middle of a transaction leaves nothing to the next', async (t) => {
  const db = await PGlite.create(join(await madeDataDir(t), 'pglite'));
  t.teardown(() => db.close());
  const lane = new Lane(() =>
    postgres({ ...baseOptions, socket: () => new PgliteSocket(db) } as typeof baseOptions),
  );
  t.teardown(() => lane.close());
  await lane.run((sql) => sql`create table kept (id int)`, 5_000);
  const stuck = lane.run(
    (sql) =>
      sql.begin(async (tx) => {
        await tx`insert into kept values (1)`;
        await tx`set local work_mem = '1MB'`;
        await new Promise(() => undefined);
      }),
    300,
  );
  await t.rejects(stuck, { name: 'ProblemError' });
  t.same([...(await lane.run((sql) => sql`select * from kept`, 5_000))], []);
  t.equal(db.isInTransaction(), false);
  await t.rejects(
    lane.run((sql) => sql`select no_such_column`, 5_000),
    { cause: { code: '42703' } },
  );
  const long = 'x'.repeat(3_000_000);
  const [row] = await lane.run((sql) => sql<[{ long: string }]>`select ${long}::text as long`, 5_000);
  t.ok(row.long === long, 'messages longer than any buffer go through');
});
