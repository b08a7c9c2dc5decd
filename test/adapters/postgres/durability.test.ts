// class: real
import t from 'tap';
import { startPostgres } from '../../support/postgres.ts';
import { createParent, createSub, rawSql, storeAt } from '../../support/store.ts';

t.test(
  'what a client or another replica relies on is on disk, even where the server is set to take its time',
  async (t) => {
    const server = await startPostgres(t, { synchronous_commit: 'off' });
    const { url } = server;
    const store = storeAt(t, url);
    await store.migrate();
    const sql = rawSql(t, url);
    // Nothing but a commit writes the log out from here on.
    const [writer] = await sql<[{ readonly pid: number }]>`
      select pid from pg_stat_activity where backend_type = 'walwriter'`;
    process.kill(writer.pid, 'SIGSTOP');

    /** Whether everything that has been committed is on disk. Asked of the positions, since no test pulls the plug. */
    async function isDurable(): Promise<boolean> {
      const [row] = await sql<[{ readonly durable: boolean }]>`
      select pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() as durable`;
      return row.durable;
    }

    const parent = (await createParent(store.tenants)).id;
    t.equal(await isDurable(), false, 'the server does take its time');
    const { value: sub } = await createSub(store.tenants, parent);
    t.equal(await isDurable(), true, 'the first active sub-account');
    await store.tenants.setSubAccountStatus(parent, sub.id, 'deactivated');
    t.equal(await isDurable(), true, 'a deactivation');
    await store.log.register({ id: 'r', nonce: 'n', leaseMs: 1_000, streamsMs: 0 });
    t.equal(await isDurable(), true, 'a lease');
    await store.log.ack('r', 1, 0);
    t.equal(await isDurable(), false, 'but a confirmation does not wait for the disk');
    await server.kill();
    await server.start();
    const { acked } = await store.log.register({ id: 'r', nonce: 'm', leaseMs: 1_000, streamsMs: 0 });
    t.equal(acked, 0, 'and a crash has undone it');
  },
);
