// class: night
/**
 * A limit that three gateways keep together, as processes of their own, while load moves between them and what they need
 * is taken away. `test/limits/rate` has the bounds of every window; here it counts what passes in all.
 *
 * TEST_LIMITS_RATE says what the limit is, in requests a second (120); twice as many are sent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { makeParents, operatorToken, type Parent } from '../../support/apis.ts';
import { configFile } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient, type Call } from '../../support/http-client.ts';
import { startPostgres } from '../../support/postgres.ts';
import { becomes, startProcess, type GatewayProcess } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';
import { valueOf } from '../../support/scrape.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { ReplicaLoad, type Tenant } from './support/replica-load.ts';

const rate = Number(process.env['TEST_LIMITS_RATE'] ?? 120);
const [first, second] = [
  [0.9, 0.05, 0.05],
  [0.05, 0.9, 0.05],
];
const promised =
  'three gateways keep a limit within half as much again while a replica and the store are taken away';

t.test(`${promised}, over Redis`, { timeout: 1_200_000 }, async (t) => {
  const redis = await startRedis(t);
  const { gateways, postgres, during, spread, degraded } = await start(t, redis.url);
  await during('load that moves', () => spread(first, second, first));
  await during('a replica that is killed', async () => {
    await gateways[1].program.kill('SIGKILL');
    await spread([0.5, 0, 0.5]);
  });
  await during('Redis away', async () => {
    await eventually(async () => (await degraded(0)) === 0);
    await redis.kill();
    await eventually(async () => (await degraded(0)) === 1);
    await spread([0.1, 0, 0.9], [0.9, 0, 0.1]);
    await redis.start();
    await eventually(async () => (await degraded(0)) + (await degraded(2)) === 0);
  });
  await during('PostgreSQL away for longer than leases last', async () => {
    await postgres.pause();
    await sleep(6_000);
    await postgres.resume();
    await Promise.all([gateways[0], gateways[2]].map(({ internalUrl }) => becomes(internalUrl, 200)));
    await sleep(4_000);
  });
});

t.test(`${promised}, over PostgreSQL`, { timeout: 1_200_000 }, async (t) => {
  const { gateways, postgres, during, spread, degraded } = await start(t, null);
  await during('load that moves', () => spread(first, second, first));
  await during('PostgreSQL away', async () => {
    await postgres.pause();
    await eventually(async () => (await degraded(0)) === 1);
    await spread(second, first);
    await postgres.resume();
    await Promise.all(gateways.map(({ internalUrl }) => becomes(internalUrl, 200)));
    await sleep(4_000);
  });
});

t.test('four workers of one gateway keep a limit as one', async (t) => {
  const [postgres, upstream] = [await startPostgres(t), await startUpstream(t)];
  const gateway = await startProcess(t, {
    ...{ DATABASE_URL: postgres.url, UPSTREAM_URL: upstream.url, ADMIN_TOKEN: operatorToken },
    ...{ LOG_LEVEL: 'warn', WORKERS: '4' },
  });
  await becomes(gateway.internalUrl, 200);
  const sub = await (await parentOf(t, gateway)).create({ name: 'N', limits: { requests_per_minute: 20 } });
  const headers = { authorization: `Bearer ${await sub.mint()}`, connection: 'close' };
  const began = performance.now();
  let admitted = 0;
  for (let isFull = false; !isFull;) {
    // Each has a connection of its own, so that it comes to any worker.
    const response = await fetch(gateway.url, { headers });
    const text = await response.text();
    if (response.status === 200) admitted += 1;
    else isFull = response.status === 429 && !text.includes('"confirmed":false');
  }
  const most = 1.5 * (20 + (performance.now() - began) / 3_000) + 4;
  t.ok(admitted >= 20 && admitted <= most, `${admitted} of 20, at most ${most.toFixed(1)}`);
});

function parentOf(t: Test, { url, internalUrl }: GatewayProcess): Promise<Parent> {
  const internal = httpClient(t, internalUrl);
  const operator: Call = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: operatorToken, ...more });
  return makeParents(httpClient(t, url), operator)();
}

async function start(t: Test, redisUrl: string | null) {
  const [postgres, upstream] = [await startPostgres(t), await startUpstream(t)];
  const env = {
    ...{ DATABASE_URL: postgres.url, UPSTREAM_URL: upstream.url, ADMIN_TOKEN: operatorToken },
    ...{ LOG_LEVEL: 'warn', CONFIG: configFile(t, 'limits:\n  max_event_loop_delay_ms: 0\n') },
    ...(redisUrl !== null && { REDIS_URL: redisUrl }),
  };
  // The first makes the tables.
  const one = await startProcess(t, env);
  await becomes(one.internalUrl, 200);
  const gateways = [one, await startProcess(t, env), await startProcess(t, env)] as const;
  await Promise.all(gateways.map(({ internalUrl }) => becomes(internalUrl, 200)));
  const parent = await parentOf(t, one);
  const tenant = async (name: string, requests_per_second: number, perSecond: number): Promise<Tenant> => {
    const sub = await parent.create({ name, limits: { requests_per_second } });
    return { name, key: await sub.mint(), perSecond };
  };
  const loud = await tenant('loud', rate, 2 * rate);
  // Within its limit, wherever its requests come.
  const quiet = await tenant('quiet', Math.ceil(rate / 4), rate / 10);
  const load = new ReplicaLoad(
    gateways.map(({ url }) => url),
    [loud, quiet],
  );
  t.teardown(() => load.stop());
  /** Gives the replicas these parts of the load, for a while each. */
  const spread = async (...all: readonly (readonly number[])[]): Promise<void> => {
    for (const parts of all) {
      load.parts = parts;
      await sleep(4_000);
    }
  };
  /** What of `act`'s time passes is within the promise, and a tenant that stays below its limit is not shut out. */
  const during = async (what: string, act: () => Promise<void>): Promise<void> => {
    const [from, fromMs] = [load.sent.length, load.nowMs];
    await act();
    const sent = load.sent.slice(from);
    const admitted = (of: Tenant) => sent.filter(({ tenant, status }) => tenant === of && status === 200);
    // A request may have been let through as long before as it took.
    const longestMs = Math.max(...sent.map(({ tookMs }) => tookMs));
    const most = 1.5 * (rate * (1 + (load.nowMs - fromMs + longestMs) / 1_000)) + gateways.length;
    t.ok(admitted(loud).length <= most, `${what}: ${admitted(loud).length} of at most ${most.toFixed(0)}`);
    t.not(admitted(quiet).length, 0, `${what}: ${admitted(quiet).length} of the quiet one`);
  };
  const degraded = (replica: number): Promise<number> =>
    valueOf(gateways[replica]?.internalUrl ?? '', 'tenancy_gateway_limiter_degraded');
  return { gateways, postgres, during, spread, degraded };
}
