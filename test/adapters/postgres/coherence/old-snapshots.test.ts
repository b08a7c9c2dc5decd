// class: real
/** What the gateway sees of old snapshots with the rights of an ordinary role, on a real PostgreSQL. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { openPostgres } from '../../../../src/adapters/postgres/store.ts';
import type { SnapshotHolder } from '../../../../src/ports/old-snapshots.ts';
import { eventually } from '../../../support/eventually.ts';
import { freshDatabase, startPostgres, startStandby } from '../../../support/postgres.ts';
import type { Scope } from '../../../support/servers.ts';
import { migrated, rawSql, storeAt } from '../../../support/store.ts';
import { unhurried } from '../../../support/unhurried.ts';

/** The store as a role that owns nothing and may see no more than its own sessions. */
async function asOrdinaryRole(t: Scope, url: string) {
  const role = `ordinary_${randomBytes(6).toString('hex')}`;
  const sql = rawSql(t, url);
  await sql.unsafe(`create role ${role} login; grant all on all tables in schema public to ${role}`).simple();
  const own = new URL(url);
  own.username = role;
  const store = openPostgres({ url: own.href, maxConnections: 4, deadlines: unhurried.deadlines });
  t.teardown(async () => {
    await store.close();
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`).simple();
  });
  await store.log.register({ id: 'a', nonce: 'n', leaseMs: 3_000, streamsMs: 0 });
  await store.log.register({ id: 'b', nonce: 'n', leaseMs: 3_000, streamsMs: 0 });
  const oldest = async (): Promise<SnapshotHolder | null> => (await store.oldSnapshots.read('a')).oldest;
  return { sql, own: own.href, store, oldest };
}

t.test('an ordinary role sees whose session holds the oldest snapshot, of its own since when', async (t) => {
  const { sql, own, store, oldest } = await asOrdinaryRole(t, await freshDatabase(t, migrated));
  await sql.begin('isolation level repeatable read', async (dump) => {
    await dump`set local application_name = 'pg_dump'`;
    const [{ pid }] = await dump<[{ pid: number }]>`select pg_backend_pid() as pid`;
    for (let i = 0; i < 5; i++)
      await store.log.register({ id: 'a', nonce: `${i}`, leaseMs: 3_000, streamsMs: 0 });
    // For a moment the server itself may have one that is as old.
    await eventually(async () => (await oldest())?.name === String(pid));
    const reading = await store.oldSnapshots.read('a');
    t.match(reading, {
      looked: true,
      oldest: { kind: 'session', name: String(pid), application: 'pg_dump', user: 'postgres', ageMs: null },
    });
    const since = reading.nextTransaction - (reading.oldest?.transaction ?? NaN);
    t.ok(since >= 5, `${since} transactions ago`);
    t.match(await store.oldSnapshots.read('b'), { looked: false, oldest: null }, 'one replica looks');
  });
  await eventually(async () => (await oldest()) === null);

  await rawSql(t, own).begin('isolation level repeatable read', async (idle) => {
    await idle`select`;
    await eventually(async () => ((await oldest())?.ageMs ?? 0) > 20);
  });
});

t.test('a prepared transaction and a replication slot are found', async (t) => {
  const primary = await startPostgres(t);
  const superuser = rawSql(t, primary.url);
  // Written down, so that the standby has it, too.
  await superuser`alter system set max_prepared_transactions = 2`;
  await superuser.end();
  await primary.restart();
  await storeAt(t, primary.url).migrate();
  const { sql, store, oldest } = await asOrdinaryRole(t, primary.url);

  await sql.unsafe(`begin; select pg_current_xact_id(); prepare transaction 'forgotten'`).simple();
  t.match(await oldest(), { kind: 'prepared transaction', name: 'forgotten', user: 'postgres' });
  await sql`rollback prepared 'forgotten'`;
  await eventually(async () => (await oldest()) === null);

  await sql`select pg_create_physical_replication_slot('of_a_standby')`;
  const standby = await startStandby(t, primary);
  const there = rawSql(t, standby.url);
  for (const [name, value] of [
    ['wal_receiver_status_interval', '1s'],
    ['hot_standby_feedback', 'on'],
    ['primary_slot_name', 'of_a_standby'],
  ] as const)
    await there.unsafe(`alter system set ${name} = '${value}'`);
  await there`select pg_reload_conf()`;
  await eventually(async () => (await oldest())?.kind === 'replication slot');
  await standby.kill();
  await store.log.register({ id: 'a', nonce: 'later', leaseMs: 3_000, streamsMs: 0 });
  t.match(await oldest(), { kind: 'replication slot', name: 'of_a_standby', user: null, ageMs: null });
  // The primary notices the end of the standby a little later.
  await eventually(async () => (await sql`select from pg_replication_slots where not active`).length === 1);
  await sql`select pg_drop_replication_slot('of_a_standby')`;
  await eventually(async () => (await oldest()) === null);
});
