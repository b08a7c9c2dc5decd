// class: real
/** Two databases of one cluster, one a copy of the other, and gateways over both that share one Redis. */
import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import t from 'tap';
import { openPostgres, type Store } from '../../../src/adapters/postgres/store.ts';
import type { KeyDigest } from '../../../src/domain/api-key.ts';
import { factKey } from '../../../src/ports/facts.ts';
import { decidingReplica } from '../../support/deciding-replica.ts';
import { eventually } from '../../support/eventually.ts';
import { connected, openFactCache } from '../../support/fact-cache.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { freshRedis } from '../../support/redis.ts';
import type { Scope } from '../../support/servers.ts';
import { createKey, createParent, createSub, migrated, storeAt } from '../../support/store.ts';
import { unhurried } from '../../support/unhurried.ts';

t.test(
  'a key revoked in one of them stays revoked there, whatever the other one keeps in Redis',
  async (t) => {
    const redisUrl = await freshRedis(t);
    const original = await freshDatabase(t, migrated);
    const { parent, key, digest } = await withStore(original, async ({ tenants }) => {
      const { id } = await createParent(tenants);
      await createSub(tenants, id);
      return { parent: id, ...(await createKey(tenants, id)) };
    });
    const copy = await copyOf(t, original);
    const [here, there] = [storeAt(t, original), storeAt(t, copy)];
    const inOriginal = replica(t, here, redisUrl);
    const inCopy = replica(t, there, redisUrl);

    await eventually(() => inCopy.coherence.ready());
    const revoked = await there.tenants.revokeKey(parent, key.id);
    const change = async (store: Store): Promise<number> => {
      const { value } = await createSub(store.tenants, parent);
      return (await store.tenants.setSubAccountStatus(parent, value.id, 'deactivated'))?.seq ?? NaN;
    };
    // In the original the log goes as far as it does in the copy, so that both stamp alike.
    const reached = await change(there);
    while ((await change(here)) < reached);
    t.equal(await inOriginal.isRevoked(digest), false, 'it was not revoked in the original');
    await eventually(() => inOriginal.isInRedis(digest));

    await inCopy.coherence.barrier.enforced(revoked?.seq ?? NaN, revoked?.incarnation ?? '');
    t.equal(await inCopy.isRevoked(digest), true);
    t.equal(
      await replica(t, there, redisUrl).isRevoked(digest),
      true,
      'nor does a replica that starts in the copy',
    );
  },
);

t.test(
  'a database that was exchanged for a copy is noticed, and its writers wait for leases no row shows',
  async (t) => {
    const original = await freshDatabase(t, migrated);
    const copy = await copyOf(t, original);
    const [before, after] = [storeAt(t, original), storeAt(t, copy)];
    t.match(await before.log.replicas(), { complete: true });
    const now = await after.log.replicas();
    t.equal(now.complete, false);
    t.not(now.incarnation, (await before.log.replicas()).incarnation);
    t.match(await after.replicaList.read(), { complete: false });

    // What a replica sees whose connections lead to the copy from one moment to the next.
    let present = before;
    const events: string[] = [];
    const moved = decidingReplica(t, { ...before, log: switching(() => present.log) }, 400, {
      events: { forgotten: () => events.push('forgotten') },
    });
    await eventually(() => moved.coherence.ready());
    present = after;
    const old = (await before.log.replicas()).incarnation;
    await eventually(() => ![old, null].includes(moved.coherence.snapshot().incarnation));
    t.same(events, ['forgotten']);
    t.not(moved.coherence.snapshot().incarnation, now.incarnation, 'it got a name of its own');
    await eventually(async () => (await after.log.replicas()).complete);
  },
);

t.test('dropped and restored in place, it is another history, too', async (t) => {
  const url = await freshDatabase(t, migrated);
  const store = storeAt(t, url);
  const before = await store.log.replicas();
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql.unsafe(`
    do $$
    declare
      view constant text := pg_get_viewdef('coherence_now');
    begin
      create table kept as table coherence_seq;
      drop table coherence_seq cascade;
      create table coherence_seq as table kept;
      execute 'create view coherence_now as ' || view;
    end $$`);
  await sql.end();
  const after = await store.log.replicas();
  t.equal(after.complete, false);
  t.not(after.incarnation, before.incarnation);
});

/** A copy, as `create database … template …` makes one. Nothing may be connected to the original meanwhile. */
async function copyOf(t: Scope, url: string): Promise<string> {
  const admin = new URL(url);
  const original = admin.pathname.slice(1);
  const name = `copy_${randomUUID().replaceAll('-', '')}`;
  admin.pathname = '/postgres';
  const run = async (statement: string): Promise<void> => {
    const sql = postgres(admin.href, { max: 1, onnotice: () => undefined });
    await sql.unsafe(statement);
    await sql.end();
  };
  await eventually(() =>
    run(`create database ${name} template ${original}`).then(
      () => true,
      () => false,
    ),
  );
  t.teardown(() => run(`drop database if exists ${name} with (force)`));
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

async function withStore<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = openPostgres({ url, maxConnections: 5, deadlines: unhurried.deadlines });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A log that is another one from one call to the next. */
function switching(log: () => Store['log']): Store['log'] {
  return new Proxy(log(), { get: (_, name) => Reflect.get(log(), name) as unknown });
}

/** A replica over `store`, with a cache in Redis. */
function replica(t: Scope, store: Store, redisUrl: string) {
  const cache = openFactCache(t, redisUrl);
  const { coherence, key } = decidingReplica(t, store, 60_000, { cache });
  return {
    coherence,
    isInRedis: async (digest: KeyDigest): Promise<boolean> =>
      (await cache.get([factKey.key(digest)])).size === 1,
    async isRevoked(digest: KeyDigest): Promise<boolean | undefined> {
      await eventually(() => coherence.ready());
      await connected(cache);
      return (await key(digest))?.revoked;
    },
  };
}
