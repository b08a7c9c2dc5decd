// class: night
/**
 * A failover to a real standby with a long log, and what catching up costs a process in memory. For the figures of
 * docs/maintainers/coherence.md: `TAP_TIMEOUT=0 LOG_ROWS=1000000 node scripts/with-servers.mjs test/e2e/faults/large-failover.test.ts`.
 */
import t from 'tap';
import { openPostgres } from '../../../src/adapters/postgres/store.ts';
import type { Sql } from '../../../src/adapters/postgres/connection/sql.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryOf, resetPeakMemory } from '../../support/processes.ts';
import { startRedis } from '../../support/redis.ts';
import { rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { Cluster } from './support/cluster.ts';
import { Replica } from './support/replica.ts';

const rows = Number(process.env['LOG_ROWS'] ?? 200_000);
/** Fewer than the log keeps, so that a replica that lacks them reads them all. */
const missed = 90_000;
const leaseMs = 3_000;
const portion = 50_000;
const mostMemoryMib = 400;

t.test('with a long log, a failover ends and catching up takes bounded memory', async (t) => {
  const cluster = await Cluster.start(t);
  const { url } = cluster.primary;
  const store = openPostgres({ url, maxConnections: 4 });
  await store.migrate();
  await store.close();
  const sql = rawSql(t, url);
  await logChanges(sql, 1, rows);

  const surroundings = {
    postgresUrl: url,
    redisUrl: (await startRedis(t)).url,
    upstreamUrl: (await startUpstream(t)).url,
    leaseMs,
  };
  const started = performance.now();
  const first = await Replica.make(t, 'first', surroundings);
  await first.ready();
  const readyMs = performance.now() - started;
  const second = await Replica.make(t, 'second', surroundings);
  await second.ready();
  const atStart = memoryOf(second.pid).peakMib;

  const [account, keys] = await makeKeys(first);
  const ask = async (replica: Replica, key: string): Promise<number | undefined> =>
    (await replica.client.send('GET', '/v1/x', { key }))?.status;
  t.same([await ask(first, keys.kept), await ask(second, keys.kept)], [200, 200]);

  resetPeakMemory(second.pid);
  second.pause();
  await logChanges(sql, rows + 100, rows + 99 + missed);
  second.resume();
  const resumed = performance.now();
  await eventually(async () => (await positionOf(second)) >= rows + 99 + missed);
  const caughtUpMs = performance.now() - resumed;
  const catchingUp = memoryOf(second.pid).peakMib;
  t.ok(Math.max(atStart, catchingUp) < mostMemoryMib, `${atStart} MiB, catching up ${catchingUp} MiB`);

  const killed = performance.now();
  const target = await cluster.failOver();
  const reachable = performance.now();
  for (const replica of [first, second]) {
    replica.toPostgres.leadTo(target);
    replica.toPostgres.cut();
  }
  await eventually(async () => (await ask(first, keys.kept)) === 200 && (await restartsOf(first)) > 0);
  const decidingMs = performance.now() - reachable;
  await eventually(
    async () =>
      (
        await first.operator.send('POST', `/admin/v1/accounts/${account}/api-keys/${keys.revokedId}/revoke`, {
          limitMs: leaseMs + 5_000,
        })
      )?.status === 200,
  );
  const overMs = performance.now() - reachable;
  t.same([await ask(first, keys.revoked), await ask(second, keys.revoked)], [401, 401]);
  t.same([await ask(first, keys.kept), await ask(second, keys.kept)], [200, 200]);
  t.comment(
    `${rows} rows: ready in ${Math.round(readyMs)} ms with at most ${atStart} MiB; ${missed} changes caught up with in ` +
      `${Math.round(caughtUpMs)} ms with at most ${catchingUp} MiB; promoted in ${Math.round(reachable - killed)} ms, then ` +
      `deciding after ${Math.round(decidingMs)} ms, the first change enforced after ${Math.round(overMs)} ms`,
  );
});

/** Entries of the log as that many revokes leave them. */
async function logChanges(sql: Sql, first: number, last: number): Promise<void> {
  for (let from = first; from <= last; from += portion)
    await sql`with taken as (
        insert into coherence_taken select generate_series(${from}::int, ${Math.min(last, from + portion - 1)}::int) returning seq
      )
      insert into coherence_log (seq, key, withdrawn) select seq, 'k:' || md5(seq::text), true from taken`;
}

/** Two keys of a new parent, one of them to be revoked later. */
async function makeKeys({ operator }: Replica) {
  const made = await operator.send('POST', '/admin/v1/accounts', { body: { name: 'Parent' } });
  const account = String(made?.body['id']);
  const mint = async (): Promise<{ readonly id: string; readonly key: string }> => {
    const path = `/admin/v1/accounts/${account}/api-keys`;
    const { body = {} } = (await operator.send('POST', path, { body: { name: 'k', scopes: [] } })) ?? {};
    return { id: String(body['id']), key: String(body['api_key']) };
  };
  const [kept, revoked] = [await mint(), await mint()];
  return [account, { kept: kept.key, revoked: revoked.key, revokedId: revoked.id }] as const;
}

/** Position that a process decides by. */
function positionOf(replica: Replica): Promise<number> {
  return metricOf(replica, 'coherence_position');
}

/** How often it has begun anew. */
function restartsOf(replica: Replica): Promise<number> {
  return metricOf(replica, 'coherence_restarts_total');
}

async function metricOf({ operator }: Replica, name: string): Promise<number> {
  const { text = '' } = (await operator.send('GET', '/metrics')) ?? {};
  return Number(new RegExp(`^tenancy_gateway_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? NaN);
}
