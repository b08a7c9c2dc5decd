// class: real
/** What a replica can do through PgBouncer in transaction mode, with the one direct session and without it. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openPostgres } from '../../../src/adapters/postgres/store.ts';
import { storeContracts } from '../../contract/all.ts';
import { makeParents, operatorClient, operatorToken, type Parent } from '../../support/apis.ts';
import { configFile, goodConfig } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient, type Call } from '../../support/http-client.ts';
import { startPooler, withoutPgbouncer } from '../../support/pgbouncer.ts';
import { startInProcess } from '../../support/replicas.ts';
import { freshDatabase } from '../../support/postgres.ts';
import type { Scope } from '../../support/servers.ts';
import { migrated, rawSql } from '../../support/store.ts';
import { unhurried } from '../../support/unhurried.ts';
import { startUpstream } from '../../support/upstreams.ts';

const skip = withoutPgbouncer;

const { deadlines } = unhurried;

/** A renewal every 15 s: what is learnt sooner was heard by NOTIFY. */
const longLease = 'coherence: {lease_ms: 60000}\n';
/** The machine that runs the tests may stand still for a second. */
const neverShed = 'limits: {max_event_loop_delay_ms: 0}\n';

t.test('a pooler alone will do to migrate and to store', { skip }, async (t) => {
  const { url } = await startPooler(t, await freshDatabase(t));
  const store = openPostgres({ url: `${url}?prepare=false`, maxConnections: 4, deadlines });
  t.teardown(() => store.close());
  await store.migrate();
  await storeContracts(t, store);
});

t.test(
  'through a pooler alone, what is asked of the session all at once is answered',
  { skip },
  async (t) => {
    const { url } = await startPooler(t, await freshDatabase(t, migrated));
    const store = openPostgres({ url: `${url}?prepare=false`, maxConnections: 4, deadlines });
    t.teardown(() => store.close());
    const readings = await Promise.all(
      Array.from({ length: 50 }, async (_, i) =>
        i % 2 === 0 ? store.log.replicas() : store.log.readAfter(i, 100),
      ),
    );
    t.same(new Set(readings.map(({ seq }) => seq)), new Set([0]));
  },
);

t.test('through a pooler, revokes are heard over the direct session', { skip }, async (t) => {
  const directUrl = await freshDatabase(t, migrated);
  const { url } = await startPooler(t, directUrl);
  const env = {
    DATABASE_URL: url,
    DATABASE_DIRECT_URL: directUrl,
    CONFIG: configFile(t, longLease + neverShed),
  };
  const [first, second] = await startTwo(t, env);
  const parent = await first.parent();
  await core(t, parent, second.call);

  const sql = rawSql(t, directUrl);
  const direct = await sql<{ readonly port: number; readonly count: number }[]>`
    select client_port as port, count(*)::int from pg_stat_activity
    where datname = current_database() and application_name = 'tenancy-gateway' and pid <> pg_backend_pid()
      and query not like '%pg_stat_activity%'
    group by client_port`;
  t.ok(direct.length >= 2, 'the sessions of two replicas');
});

t.test('without a direct session replicas learn when they next renew', { skip }, async (t) => {
  const { url } = await startPooler(t, await freshDatabase(t, migrated));
  const env = { DATABASE_URL: `${url}?prepare=false`, CONFIG: configFile(t, neverShed) };
  const [first, second] = await startTwo(t, env);
  await core(t, await first.parent(), second.call);
});

t.test(
  'a pooler that goes away under load costs changes, and no request of a known key',
  { skip },
  async (t) => {
    const directUrl = await freshDatabase(t, migrated);
    const pooler = await startPooler(t, directUrl);
    const env = {
      DATABASE_URL: pooler.url,
      DATABASE_DIRECT_URL: directUrl,
      CONFIG: configFile(t, neverShed),
    };
    const [first, second] = await startTwo(t, env);
    const parent = await first.parent();
    const sub = await parent.create({ name: 'Known', external_id: 'known' });
    const key = await sub.mint();
    const statuses = new Map<number, number>();
    let loaded = true;
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (loaded) {
          const { status } = await second.call('GET', '/x', { key });
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          await sleep(2);
        }
      }),
    );
    await eventually(() => (statuses.get(200) ?? 0) > 50);
    await pooler.kill();
    t.equal(
      (await parent.call('POST', '', { body: { name: 'Now' } })).status,
      503,
      'no change without the store',
    );
    const before = statuses.get(200) ?? 0;
    await eventually(() => (statuses.get(200) ?? 0) > before + 100);
    await pooler.start();
    await eventually(async () => (await parent.call('POST', '', { body: { name: 'Later' } })).status === 201);
    loaded = false;
    await load;
    t.same([...statuses.keys()], [200]);

    const revoked = await sub.act('deactivate');
    t.equal(revoked.status, 200);
    t.match(revoked.headers['x-service-enforced'], /^replicas=2; ms=\d+$/);
    t.equal((await second.call('GET', '/x', { key })).status, 403);
  },
);

/** What the specification asks for first: who a request acts as, and that a change is in force with its 2xx. */
async function core(t: Scope & Tap, parent: Parent, call: Call): Promise<void> {
  const act = (acting: string, key = parent.key) =>
    call('POST', '/x', { key, headers: { 'X-Service-Acting-Tenant': acting } });
  t.equal((await call('POST', '/x', { key: parent.key })).status, 200, 'a parent by itself');
  const sub = await parent.create({ name: 'Sub', external_id: 'sub' });
  t.equal((await call('POST', '/x', { key: parent.key })).status, 400, 'with a sub-account it has to say');
  for (const acting of ['self', sub.id, 'ext:sub']) t.equal((await act(acting)).status, 200, acting);
  t.equal((await act('ext:none')).status, 403);
  const moved = await parent.call('PATCH', `/${sub.id}`, { body: { external_id: 'moved' } });
  t.equal(moved.status, 200);
  t.equal((await act('ext:sub')).status, 403, 'the old name');
  t.equal((await act('ext:moved')).status, 200, 'the new one');
  const keys = await Promise.all([1, 2, 3].map(() => sub.mint()));
  for (const key of keys) t.equal((await call('GET', '/x', { key })).status, 200);
  const deactivated = await sub.act('deactivate');
  t.equal(deactivated.status, 200);
  // A replica that was waited out would be in the receipt as `unheard`.
  t.match(deactivated.headers['x-service-enforced'], /^replicas=2; ms=\d+$/);
  for (const key of keys) t.equal((await call('GET', '/x', { key })).status, 403);
  t.equal((await sub.act('reactivate')).status, 200);
  for (const key of keys) t.equal((await call('GET', '/x', { key })).status, 200);
}

/** The part of `t` that {@link core} needs. */
type Tap = Pick<typeof t, 'equal' | 'match'>;

async function startTwo(t: Scope, env: Readonly<Record<string, string>>) {
  const upstream = await startUpstream(t);
  const start = async () => {
    const own = { PORT: '0', INTERNAL_PORT: '0', UPSTREAM_URL: upstream.url, ADMIN_TOKEN: operatorToken };
    const { origin, internalOrigin } = await startInProcess(t, goodConfig({ ...own, ...env }));
    const [call, operator] = [httpClient(t, origin), operatorClient(t, internalOrigin)];
    return { call, parent: makeParents(call, operator) };
  };
  return [await start(), await start()] as const;
}
