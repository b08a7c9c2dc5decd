/** From 0.1.0 to this version and back, under load, beside sessions that hold locks on all tables. */
import t from 'tap';
import { configFile } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess, type GatewayProcess } from '../../support/process.ts';
import { freshRedis } from '../../support/redis.ts';
import { rawSql } from '../../support/store.ts';
import { startUpstream } from '../faults/support/upstream.ts';
import { Balancer } from './support/balancer.ts';
import { idleTransaction, stoppedDump } from './support/locks.ts';
import { startTraffic } from './support/traffic.ts';
import { buildOf010, buildWithStep } from './support/versions.ts';

const perSecond = 300;
const replicasEach = 3;
const migratedWithinMs = 30_000;
/** Of requests, where the machine cannot keep the pace: a statement that is late fails there. Otherwise none may fail. */
const lateOnSlowMachine = 0.001;

const old = buildOf010();
const noOld = 'missing' in old && `NO UPGRADE WAS TESTED: ${old.missing}`;
if (noOld !== false) process.stderr.write(`${noOld}\n`);

/** What 0.1.0 went down under: renewals of leases queued behind it for 10 s at a time. */
const lockingStep = `-- compatible with: 4
alter table replica add column of_the_test int`;

t.test(
  'an upgrade beside a pg_dump and an idle transaction, and back: no request fails, no decision is stale',
  { skip: noOld },
  async (t) => {
    if ('missing' in old) return;
    const added = buildWithStep(t, lockingStep);
    const url = await freshDatabase(t);
    const env = {
      DATABASE_URL: url,
      REDIS_URL: await freshRedis(t),
      UPSTREAM_URL: await startUpstream(t),
      ADMIN_TOKEN: 'token-of-this-test',
      LOG_LEVEL: 'warn',
      CONFIG: configFile(t, 'drain_delay_ms: 4000\nlimits: { max_event_loop_delay_ms: 0 }\n'),
    };
    const balancer = new Balancer(t);
    const start = (dist: string): Promise<GatewayProcess[]> =>
      Promise.all(
        Array.from({ length: replicasEach }, async () => {
          const replica = await startProcess(t, env, dist);
          balancer.add(replica);
          return replica;
        }),
      );
    const used = (replicas: readonly GatewayProcess[]): Promise<void> =>
      eventually(() => replicas.every((replica) => balancer.uses(replica)));
    const stop = async (replicas: readonly GatewayProcess[]): Promise<void> => {
      const codes = await Promise.all(replicas.map(({ program }) => program.kill('SIGTERM')));
      t.same([...new Set(codes)], [0], 'all end in order');
    };

    const olds = await start(old.dist);
    await used(olds);
    const traffic = startTraffic(balancer, await makeParentKey(olds[0]), perSecond);
    await eventually(() => traffic.revoked() > 2);

    const held = [await stoppedDump(t, url), await idleTransaction(t, url)];
    t.comment(held[0] === null ? 'without pg_dump, which is not on this machine' : 'beside a real pg_dump');
    const news = await start(added.dist);
    for (const { internalUrl } of news) await becomes(internalUrl, 503, 'migrations_pending');
    // One tries at a time, and the others say that they wait for it. Each table is held: the first step that needs one waits.
    const holder = /AccessExclusiveLock on \w+/;
    await eventually(() => news.some(({ program }) => holder.test(program.stdout)));
    t.pass('the log says which lock a migration waits for');
    const before = traffic.revoked();
    await eventually(() => traffic.revoked() > before + 5);
    const failedMost = (): number => (traffic.missed() > 0 ? balancer.sent * lateOnSlowMachine : 0);
    t.ok(
      balancer.failed <= failedMost(),
      `old replicas serve while new ones wait: ${balancer.failures.join('\n')}`,
    );

    const released = performance.now();
    for (const one of held) await one?.release();
    const sql = rawSql(t, url);
    await eventually(async () => {
      const [row] = await sql<[{ version: number }]>`select max(version) as version from schema_migration`;
      return row.version === added.version;
    });
    const tookMs = performance.now() - released;
    t.ok(tookMs < migratedWithinMs, `migrated ${Math.round(tookMs)} ms after the locks were released`);

    await used(news);
    const mixed = traffic.revoked();
    await eventually(() => traffic.revoked() > mixed + 5);
    await stop(olds);
    const upgraded = traffic.revoked();
    await eventually(() => traffic.revoked() > upgraded + 5);

    const back = await start(old.dist);
    await used(back);
    await stop(news);
    const rolledBack = traffic.revoked();
    await eventually(() => traffic.revoked() > rolledBack + 5);

    const seconds = await traffic.stop();
    const { decisions, stale, odd } = traffic.history;
    const failed = `${balancer.failed} of ${balancer.sent} requests failed`;
    t.ok(balancer.failed <= failedMost(), `${failed}: ${balancer.failures.join('\n')}`);
    t.same(stale, [], `${decisions} decisions about ${traffic.revoked()} revoked keys`);
    t.same(odd, []);
    const pace = `${balancer.sent} requests in ${seconds.toFixed(1)} s, ${traffic.missed()} left out on a slow machine`;
    t.ok(balancer.sent + traffic.missed() > 0.9 * perSecond * seconds, pace);
    t.comment(
      `${balancer.sent} requests, ${decisions} decisions, ${traffic.revoked()} revokes in ${seconds.toFixed(1)} s; migrated after ${Math.round(tookMs)} ms`,
    );
  },
);

async function makeParentKey(replica: GatewayProcess | undefined): Promise<string> {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${replica?.internalUrl}/admin/v1${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer token-of-this-test', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const { id } = await post('/accounts', { name: 'Parent' });
  const scopes = ['sub_accounts:read', 'sub_accounts:write'];
  const { api_key: key } = await post(`/accounts/${String(id)}/api-keys`, { name: 'Key', scopes });
  return String(key);
}
