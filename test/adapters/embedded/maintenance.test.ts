// class: app
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import postgres from 'postgres';
import t from 'tap';
import { tidy } from '../../../src/adapters/embedded/maintenance.ts';
import { PgliteSocket } from '../../../src/adapters/embedded/pglite-socket.ts';
import { Pool } from '../../../src/adapters/postgres/connection/pool.ts';
import { baseOptions } from '../../../src/adapters/postgres/connection/sql.ts';
import { madeDataDir } from '../../support/embedded.ts';

t.test('a round clears what updates left and lets go of the log', async (t) => {
  const db = await PGlite.create(join(await madeDataDir(t), 'pglite'));
  t.teardown(() => db.close());
  const socket = (): PgliteSocket => new PgliteSocket(db);
  const pool = new Pool(() => postgres({ ...baseOptions, socket } as typeof baseOptions), 1);
  t.teardown(() => pool.close());
  const runner = pool.withDeadline(30_000);

  await runner.run((sql) => sql`create table "Odd name" as select i, 0 as n from generate_series(1, 5000) i`);
  const bytes = async (): Promise<number> => {
    const [row] = await runner.run(
      (sql) => sql<[{ size: number }]>`select pg_relation_size('"Odd name"') as size`,
    );
    return row.size;
  };
  const update = (): Promise<unknown> => runner.run((sql) => sql`update "Odd name" set n = n + 1`);
  const small = await bytes();
  for (let i = 0; i < 4; i++) {
    await update();
    await tidy(runner, true);
  }
  t.ok((await bytes()) < 3 * small, 'the room of old versions is used again');

  const redo = async (): Promise<string> => {
    const [row] = await runner.run(
      (sql) => sql<[{ lsn: string }]>`select redo_lsn as lsn from pg_control_checkpoint()`,
    );
    return row.lsn;
  };
  const before = await redo();
  await update();
  t.equal(await redo(), before, 'nothing else does it');
  await tidy(runner, false);
  t.not(await redo(), before);
});
