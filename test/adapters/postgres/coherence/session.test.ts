// class: app
import t from 'tap';
import { openPostgres } from '../../../../src/adapters/postgres/store.ts';
import { createParent, createSub, freshStore, rawSql } from '../../../support/store.ts';

t.test('a mutation of another process is hinted at, also after the connection was cut', async (t) => {
  const { url, store: writer } = await freshStore(t);
  const reader = openPostgres({ url, maxConnections: 5 });
  t.teardown(() => reader.close());
  const sql = rawSql(t, url);
  let hints = 0;
  let heard: () => void = () => undefined;
  reader.log.onHint(() => {
    hints += 1;
    heard();
  });

  async function listening(): Promise<number> {
    for (;;) {
      const [row] = await sql<{ readonly pid: number }[]>`
        select pid from pg_stat_activity where query like 'listen%' and datname = current_database()`;
      if (row) return row.pid;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  async function hintedAfter(act: () => Promise<unknown>): Promise<void> {
    const hint = new Promise<void>((resolve) => (heard = resolve));
    await act();
    await hint;
  }
  const mutate = async (): Promise<unknown> =>
    createSub(writer.tenants, (await createParent(writer.tenants)).id);

  await listening();
  await hintedAfter(mutate);
  t.pass('heard');

  const pid = await listening();
  await hintedAfter(() => sql`select pg_terminate_backend(${pid})`);
  t.pass('a cut is a hint: something may have been missed');
  t.not(await listening(), pid);
  const before = hints;
  await hintedAfter(mutate);
  t.ok(hints > before, 'heard again');
});
