// class: real
/** Servers, databases and roles with another default of transaction isolation, and SQL by hand: no replica decides by what is over. */
import t from 'tap';
import { openPostgres, type Store } from '../../../src/adapters/postgres/store.ts';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres.ts';
import { decidingReplica } from '../../support/deciding-replica.ts';
import type { Scope } from '../../support/servers.ts';
import { createKey, createParent, problemCode, rawSql } from '../../support/store.ts';

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

t.test(
  'through a pooler, which gets no parameter, a change fails rather than share a position',
  async (t) => {
    const { url } = await startPostgres(t);
    const direct = openPostgres({ url, maxConnections: 4, deadlines });
    t.teardown(() => direct.close());
    await direct.migrate();
    const { id } = await createParent(direct.tenants);
    const { key } = await createKey(direct.tenants, id);
    await rawSql(t, url).unsafe(`alter role postgres set default_transaction_isolation = 'repeatable read'`);

    const pooled = openPostgres({
      url: `${url}?prepare=false`,
      directUrl: url,
      maxConnections: 4,
      deadlines,
    });
    t.teardown(() => pooled.close());
    const { seq } = await direct.log.replicas();
    t.equal(await problemCode(pooled.tenants.revokeKey(id, key.id)), 'unavailable');
    t.equal((await direct.log.replicas()).seq, seq);
    t.equal((await direct.tenants.getKey(id, key.id))?.revokedAt, null);
  },
);

t.test('SQL by hand is enforced on every replica within T of its commit', async (t) => {
  const { url } = await startPostgres(t);
  const replicas = await startStores(t, url);
  const [{ store }] = replicas as [(typeof replicas)[number]];
  const sql = rawSql(t, url);
  const { id } = await createParent(store.tenants);
  const changes: Readonly<Record<string, string>> = {
    'a revoke': 'update api_key set revoked_at = now() where id = ',
    'an expiry': 'update api_key set expires_at = now() where id = ',
    'a deletion': 'delete from api_key where id = ',
  };
  for (const [name, text] of Object.entries(changes)) {
    const { key, digest } = await createKey(store.tenants, id);
    for (const replica of replicas) t.match(await replica.key(digest), { revoked: false, expiresAtMs: null });
    await sql.unsafe(`${text} '${key.id}'`);
    const since = performance.now();
    // After T no replica may hold what it held: by then each has renewed its lease, or has none.
    await eventually(() => performance.now() - since > leaseMs);
    for (const replica of replicas) {
      const fact = await replica.key(digest);
      t.ok(fact === null || fact.revoked || fact.expiresAtMs !== null, name);
    }
  }
});
