// class: real
/** Where `synchronous_standby_names` asks for a standby: no 2xx for what it does not have. */
import t from 'tap';
import { openPostgres, type Store } from '../../../src/adapters/postgres/store.ts';
import { newClaim, subAccountDraft } from '../../support/drafts.ts';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres.ts';
import type { Scope } from '../../support/servers.ts';
import { createKey, createParent, createSub, problemCode, rawSql } from '../../support/store.ts';

t.test('a commit that the server gives up replicating has an unknown outcome, not a good one', async (t) => {
  const { before, standbyGoes, standbyComes, giveUpWaiting, waiting } = await setting(t);
  const parent = (await createParent(before.tenants)).id;
  const { key } = await createKey(before.tenants, parent);
  const store = await standbyGoes();

  const revoking = problemCode(store.tenants.revokeKey(parent, key.id));
  await giveUpWaiting();
  t.equal(await revoking, 'unavailable');
  const [stored] = (await store.tenants.listKeys(parent, { limit: 1 })).rows;
  t.ok(stored?.revokedAt, 'it is in force here, and lost if the standby takes over');

  const again = store.tenants.revokeKey(parent, key.id);
  await waiting();
  await standbyComes();
  t.ok((await again)?.value.revokedAt, 'said again, it waits for the standby');
});

t.test('a create that is replayed waits for the standby, too', async (t) => {
  const { before, standbyGoes, standbyComes, giveUpWaiting, waiting } = await setting(t);
  const parent = (await createParent(before.tenants)).id;
  await createSub(before.tenants, parent);
  const claim = newClaim();
  const draft = subAccountDraft();
  const store = await standbyGoes();

  const creating = problemCode(store.tenants.createSubAccount(parent, draft, 10, claim));
  await giveUpWaiting();
  t.equal(await creating, 'unavailable');

  let replayed = false;
  const again = store.tenants.createSubAccount(parent, subAccountDraft(), 10, claim);
  void again.then(() => (replayed = true));
  await Promise.race([waiting(), again]);
  t.equal(replayed, false, 'there is no response before the standby has what it says');
  await standbyComes();
  t.match(await again, { value: { id: draft.id }, replayed: true });
});

async function setting(t: Scope) {
  const server = await startPostgres(t);
  const open = (): Store => {
    // The wait for the standby is as long as the test wants it.
    const store = openPostgres({ url: server.url, maxConnections: 5, deadlines: { queryMs: 600_000 } });
    t.teardown(() => store.close());
    return store;
  };
  const before = open();
  await before.migrate();
  let sql = rawSql(t, server.url);
  const waiting = () =>
    eventually(async () => (await sql`select from pg_stat_activity where wait_event = 'SyncRep'`).length > 0);
  return {
    before,
    /** A store whose commits wait for a standby that is away. */
    standbyGoes: async (): Promise<Store> => {
      await sql`alter system set synchronous_standby_names = 'away'`;
      await before.close();
      await sql.end();
      await server.restart();
      sql = rawSql(t, server.url);
      return open();
    },
    standbyComes: async (): Promise<void> => {
      await sql`alter system set synchronous_standby_names = ''`;
      await sql`select pg_reload_conf()`;
    },
    /** Until a commit waits for the standby. */
    waiting,
    /** What an operator may do, and a fast shutdown does. */
    giveUpWaiting: async (): Promise<void> => {
      await waiting();
      await sql`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
    },
  };
}
