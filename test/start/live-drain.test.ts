// class: built
import t from 'tap';
import { configFile } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { watch } from '../support/live-watch.ts';
import { rawSql } from '../support/store.ts';
import { startWorkers } from '../support/workers.ts';

t.test('a live tail ends when its replica drains, and leaves nothing behind', async (t) => {
  const env = { UPSTREAM_URL: 'http://127.0.0.1:2', CONFIG: configFile(t, 'drain_delay_ms: 3000\n') };
  const { program, internalUrl, databaseUrl } = await startWorkers(t, env, 1);
  const tail = await watch(t, internalUrl);
  const exited = program.kill('SIGTERM');
  await eventually(() => tail.isOver());
  t.equal(tail.isWhole(), true, 'the stream is complete: it ends, and is not cut');
  t.equal(await exited, 0);
  const sql = rawSql(t, databaseUrl);
  t.same(await sql`select id from tail`, []);
  t.same(await sql`select replica from replica_figures`, []);
});
