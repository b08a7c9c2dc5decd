// class: real
/** Servers, databases and roles with another default of transaction isolation: no replica decides by what is over. */
import t from 'tap';
import { openPostgres, type Store } from '../../../src/adapters/postgres/store.ts';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres.ts';
import { decidingReplica } from '../../support/deciding-replica.ts';
import type { Scope } from '../../support/servers.ts';
import { createKey, createParent, rawSql } from '../../support/store.ts';

const leaseMs = 3_000;
const replicasEach = 3;
const [rounds, atOnce] = [12, 8];
/** A deadline of statements that a busy machine keeps. */
const deadlines = { coherenceMs: 20_000, queryMs: 60_000 };

/** Three stores over one database, and a replica on each. */
async function startStores(t: Scope, url: string) {
  const stores = Array.from({ length: replicasEach }, () =>
    openPostgres({ url, maxConnections: 6, deadlines }),
  );
  t.teardown(() => Promise.all(stores.map((store) => store.close())));
  await (stores[0] as Store).migrate();
  const replicas = stores.map((store) => ({ store, ...decidingReplica(t, store, leaseMs) }));
  await eventually(() => replicas.every(({ coherence }) => coherence.ready()));
  return replicas;
}

/** A database of its own, on a server, in a database or for a role with this default. */
const places: Readonly<Record<string, (t: Scope, level: string) => Promise<string>>> = {
  server: async (t, level) => (await startPostgres(t, { default_transaction_isolation: level })).url,
  database: async (t, level) => {
    const { url } = await startPostgres(t);
    await rawSql(t, url).unsafe(`alter database postgres set default_transaction_isolation = '${level}'`);
    return url;
  },
  role: async (t, level) => {
    const { url } = await startPostgres(t);
    await rawSql(t, url).unsafe(`alter role postgres set default_transaction_isolation = '${level}'`);
    return url;
  },
};

for (const level of ['repeatable read', 'serializable'])
  for (const [place, prepare] of Object.entries(places))
    t.test(
      `revokes at once are enforced everywhere, ${level} being the default of the ${place}`,
      async (t) => {
        const url = await prepare(t, level);
        const replicas = await startStores(t, url);
        const [{ store }] = replicas as [(typeof replicas)[number]];
        const parents = await Promise.all(Array.from({ length: atOnce }, () => createParent(store.tenants)));
        let stale = 0;
        for (let round = 0; round < rounds; round++) {
          const keys = await Promise.all(
            parents.map(async ({ id }) => ({ parent: id, ...(await createKey(store.tenants, id)) })),
          );
          for (const replica of replicas)
            for (const { digest } of keys) t.equal((await replica.key(digest))?.revoked, false);
          await Promise.all(
            keys.map(async ({ parent, key }, i) => {
              const writer = replicas[i % replicasEach] as (typeof replicas)[number];
              const revoked = await writer.store.tenants.revokeKey(parent, key.id);
              await writer.coherence.barrier.enforced(revoked?.seq ?? NaN, revoked?.incarnation ?? '');
            }),
          );
          for (const replica of replicas)
            for (const { digest } of keys) stale += (await replica.key(digest))?.revoked === true ? 0 : 1;
        }
        t.equal(stale, 0, `of ${rounds * atOnce * replicasEach} decisions`);
      },
    );
