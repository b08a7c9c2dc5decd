// class: real
/** Real standbys: two of them promoted one after the other, to the same timeline number. */
import t from 'tap';
import { openPostgres, type Store } from '../../../src/adapters/postgres/store.ts';
import { eventually } from '../../support/eventually.ts';
import { startPostgres, startStandby } from '../../support/postgres.ts';
import type { PrivateServer, Scope } from '../../support/servers.ts';
import { createParent, createSub, rawSql } from '../../support/store.ts';

t.test('two promotions to one timeline number are two histories, each named once', async (t) => {
  const primary = await startPostgres(t);
  const store = open(t, primary);
  await store.migrate();
  const first = await registered(store, 'a');
  await primary.restart();
  t.equal(await registered(store, 'a'), first, 'a restart is the same history');
  const [one, other] = [await startStandby(t, primary), await startStandby(t, primary)];
  const { id } = await createParent(store.tenants);
  const [{ lsn } = { lsn: '' }] = await rawSql(t, primary.url)<
    { lsn: string }[]
  >`select pg_current_wal_lsn()::text as lsn`;
  for (const standby of [one, other])
    await eventually(async () => {
      const [{ there } = { there: false }] = await rawSql(t, standby.url)<{ there: boolean }[]>`
        select pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn as there`;
      return there;
    });
  await primary.kill();

  const names: string[] = [];
  const timelines: unknown[] = [];
  for (const standby of [one, other]) {
    await standby.promote();
    const promoted = open(t, standby);
    const before = await createSub(promoted.tenants, id);
    t.not(before.incarnation, first, 'a change before any replica has registered is of no history');
    const ids = Array.from({ length: 8 }, (_, i) => `replica ${i}`);
    const seen = await Promise.all(ids.map((each) => registered(promoted, each)));
    t.equal(new Set(seen).size, 1, 'eight replicas at once give it one name');
    names.push(seen[0] ?? '');
    t.equal((await promoted.log.replicas()).complete, false, 'leases of the old history may be out there');
    const [row] = await rawSql(t, standby.url)`
      select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline`;
    timelines.push(row?.['timeline']);
    await standby.kill();
  }
  t.equal(new Set(timelines).size, 1, 'the same timeline number');
  t.equal(new Set([first, ...names]).size, 3);
});

function open(t: Scope, { url }: PrivateServer): Store {
  const store = openPostgres({ url, maxConnections: 4 });
  t.teardown(() => store.close());
  return store;
}

/** The history as a replica sees it after it has registered. */
async function registered(store: Store, id: string): Promise<string> {
  await eventually(async () => {
    try {
      await store.log.register({ id, nonce: 'n', leaseMs: 1_000, streamsMs: 0 });
      return true;
    } catch {
      return false;
    }
  });
  return (await store.log.readAfter(null, 10)).incarnation;
}
