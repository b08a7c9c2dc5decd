// class: night
/**
 * Limits that three gateways keep together, as processes of their own, while load moves between them and what they need is taken away.
 *
 * TEST_LIMITS_RATE says what the limit is, in requests a second (120); twice as many are sent. TEST_LIMITS_FIGURES says to which file
 * the figures are written.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { makeParents, operatorToken } from '../../support/apis.ts';
import { configFile } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient, type Call } from '../../support/http-client.ts';
import { startPostgres } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';
import { valueOf } from '../../support/scrape.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { usualPatience } from '../../../src/limits/rate/questions.ts';
import { ReplicaLoad, type Tenant } from './support/replica-load.ts';
import {
  answeredParts,
  decided,
  over,
  quietParts,
  under,
  type Beyond,
  type Stretch,
} from './support/windows.ts';

const rate = Number(process.env['TEST_LIMITS_RATE'] ?? 120);
const figures: Record<string, unknown> = { rate, burst: rate };

/**
 * Milliseconds from which on a request may have waited in vain for the store; and for how many after it a replica may
 * still go by its share.
 */
const lateness = { lateMs: usualPatience.answerMs - 5, afterLateMs: 1_500 };

const first = [0.9, 0.05, 0.05];
const second = [0.05, 0.9, 0.05];

const promised =
  'three gateways keep a limit within 2 %, and within half as much again while a replica and the store are taken away';

t.test(`${promised}, over Redis`, { timeout: 1_200_000 }, async (t) => {
  const redis = await startRedis(t);
  const { load, loud, quiet, bursts, postgres, gateways, degraded } = await start(t, redis.url);
  const moving = await moves(t, load);
  await held(t, 'moving', load, loud, moving);
  neverRefused(t, load, quiet, moving);
  await wholeBurst(t, bursts);

  const faults = load.nowMs;
  load.parts = second;
  await sleep(3_000);
  load.parts = [0.5, 0, 0.5];
  await gateways[1].program.kill('SIGKILL');
  await sleep(10_000);
  await eventually(async () => (await degraded(0)) === 0, { everyMs: 100 });
  t.pass('the store is heard');
  await redis.kill();
  await eventually(async () => (await degraded(0)) === 1, { everyMs: 100 });
  load.parts = [0.1, 0, 0.9];
  await sleep(8_000);
  load.parts = [0.9, 0, 0.1];
  await sleep(4_000);
  await redis.start();
  await eventually(async () => (await degraded(0)) === 0 && (await degraded(2)) === 0, { everyMs: 100 });
  await postgres.pause();
  // Longer than leases last: 503 then, and after it as before.
  await sleep(6_000);
  await postgres.resume();
  await Promise.all([gateways[0], gateways[2]].map(({ internalUrl }) => becomes(internalUrl, 200)));
  await sleep(5_000);
  const all = { fromMs: faults, toMs: load.nowMs };
  withinHalfAsMuchAgain(t, 'faults', load, loud, all);
  neverShutOut(t, load, quiet, all);

  load.parts = [0.9, 0, 0.1];
  const after = { fromMs: load.nowMs, toMs: load.nowMs + 12_000 };
  await sleep(12_000);
  await held(t, 'after it', load, loud, after);
});

t.test(`${promised}, over PostgreSQL`, { timeout: 1_200_000 }, async (t) => {
  const { load, loud, quiet, bursts, postgres, gateways, degraded } = await start(t, null);
  const moving = await moves(t, load);
  await held(t, 'moving, over PostgreSQL', load, loud, moving);
  neverRefused(t, load, quiet, moving);
  await wholeBurst(t, bursts);

  const faults = load.nowMs;
  await postgres.pause();
  await eventually(async () => (await degraded(0)) === 1, { everyMs: 100 });
  load.parts = second;
  await sleep(6_000);
  await postgres.resume();
  await Promise.all(gateways.map(({ internalUrl }) => becomes(internalUrl, 200)));
  await sleep(6_000);
  const all = { fromMs: faults, toMs: load.nowMs };
  withinHalfAsMuchAgain(t, 'faults, over PostgreSQL', load, loud, all);
  neverShutOut(t, load, quiet, all);
});

t.test('four workers of one gateway keep a limit as one', async (t) => {
  const [postgres, upstream] = [await startPostgres(t), await startUpstream(t)];
  const gateway = await startProcess(t, {
    ...{ DATABASE_URL: postgres.url, UPSTREAM_URL: upstream.url, ADMIN_TOKEN: operatorToken },
    ...{ LOG_LEVEL: 'warn', WORKERS: '4' },
  });
  await becomes(gateway.internalUrl, 200);
  const internal = httpClient(t, gateway.internalUrl);
  const operator: Call = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: operatorToken, ...more });
  const call = httpClient(t, gateway.url);
  const parent = await makeParents(call, operator)();
  const sub = await parent.create({ name: 'sub', limits: { requests_per_second: 10, burst: 20 } });
  const key = await sub.mint();
  const rounds: string[] = [];
  do {
    let [inTurn, atOnce] = [0, 0];
    for (let i = 0; i < 20; i++) {
      // Each has a connection of its own, so that it comes to any worker.
      const response = await fetch(gateway.url, {
        headers: { authorization: `Bearer ${key}`, connection: 'close' },
      });
      await response.arrayBuffer();
      if (response.status === 200) inTurn += 1;
    }
    await sleep(2_100);
    const together = await Promise.all(Array.from({ length: 20 }, () => call('GET', '/', { key })));
    for (const { status } of together) if (status === 200) atOnce += 1;
    await sleep(2_100);
    rounds.push(`${inTurn} and ${atOnce}`);
  } while (rounds.length < 5 && rounds.at(-1) !== '20 and 20');
  t.equal(rounds.at(-1), '20 and 20', `one after the other, and all at once: ${rounds.join('; ')}`);
});

t.teardown(() => {
  const file = process.env['TEST_LIMITS_FIGURES'];
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
});

async function start(t: Test, redisUrl: string | null) {
  const [postgres, upstream] = [await startPostgres(t), await startUpstream(t)];
  const env = {
    ...{
      DATABASE_URL: postgres.url,
      UPSTREAM_URL: upstream.url,
      ADMIN_TOKEN: operatorToken,
      LOG_LEVEL: 'warn',
    },
    ...(redisUrl !== null && { REDIS_URL: redisUrl }),
    CONFIG: configFile(t, 'limits:\n  max_event_loop_delay_ms: 0\n'),
  };
  // The first makes the tables.
  const one = await startProcess(t, env);
  await becomes(one.internalUrl, 200);
  const gateways = [one, await startProcess(t, env), await startProcess(t, env)] as const;
  await Promise.all(gateways.map(({ internalUrl }) => becomes(internalUrl, 200)));
  const internal = httpClient(t, one.internalUrl);
  const operator: Call = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: operatorToken, ...more });
  const parent = await makeParents(httpClient(t, one.url), operator)();
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
  const degraded = (replica: number): Promise<number> =>
    valueOf(gateways[replica]?.internalUrl ?? '', 'tenancy_gateway_limiter_degraded');
  const sub = await parent.create({ name: 'bursts', limits: { requests_per_second: 10, burst: 40 } });
  const key = await sub.mint();
  const callers = gateways.map(({ url }) => httpClient(t, url));
  const bursts = async (count: number): Promise<number> => {
    const statuses = await Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const response = await callers[i % callers.length]?.('GET', '/', { key });
        return response?.status;
      }),
    );
    return statuses.filter((status) => status === 200).length;
  };
  return { load, loud, quiet, bursts, postgres, gateways, degraded };
}

/** Load that moves, until there was a stretch of it in which nothing but the load can have moved. */
async function moves(t: Test, load: ReplicaLoad): Promise<Stretch> {
  load.parts = first;
  await sleep(3_000);
  for (let turn = 0; turn < 8; turn++) {
    const fromMs = load.nowMs;
    for (const parts of [first, second, first, second]) {
      load.parts = parts;
      await sleep(7_500);
    }
    const stretch = { fromMs, toMs: load.nowMs };
    await sleep(1_000);
    t.pass(`turn ${turn}`);
    if (quietParts(load, stretch).length > 0) return stretch;
  }
  throw new Error('this machine was too busy to send anything for ten seconds on end');
}

/**
 * Never more than 2 % over the limit, or half as much again where a busy machine made the store late; and not less than
 * 5 % under it while nothing stands still.
 */
async function held(
  t: Test,
  name: string,
  load: ReplicaLoad,
  tenant: Tenant,
  stretch: Stretch,
): Promise<void> {
  const judged = answeredParts(load, lateness, stretch);
  const bounds: [Beyond, Stretch][] = [[over(load, tenant, 1.5, [rate, rate], stretch), stretch]];
  for (const part of judged) bounds.push([over(load, tenant, 1.02, [rate, rate], part), part]);
  for (const [{ requests }, { fromMs, toMs }] of bounds)
    t.ok(
      requests <= 0,
      `${name}: ${requests.toFixed(1)} over, ${Math.round(fromMs)} to ${Math.round(toMs)} ms`,
    );
  const parts = quietParts(load, stretch);
  const below = parts.map((part) => under(load, tenant, 0.95, rate, part));
  for (const { requests, unsure } of below)
    t.ok(requests <= 0, `${name}: ${requests.toFixed(1)} under, ${unsure.toFixed(1)} unsure`);
  const seconds = (of: Stretch): number => (of.toMs - of.fromMs) / 1000;
  const tight = judged.reduce((sum, part) => sum + seconds(part), 0);
  const above = bounds.slice(1).map(([beyond]) => beyond);
  figures[name] = { over: above, under: below, s: seconds(stretch), tight_s: tight };
  t.comment(JSON.stringify({ [name]: figures[name] }));
}

function withinHalfAsMuchAgain(
  t: Test,
  name: string,
  load: ReplicaLoad,
  tenant: Tenant,
  stretch: Stretch,
): void {
  const above = over(load, tenant, 1.5, [rate, rate], stretch);
  t.ok(above.requests <= 0, `${name}: ${above.requests.toFixed(1)} over one and a half times`);
  const plain = over(load, tenant, 1.02, [rate, rate], stretch);
  figures[name] = { over_one_and_a_half: above, over: plain };
  t.comment(JSON.stringify({ [name]: figures[name] }));
}

/**
 * A tenant below its limit gets no 429, wherever its requests come: except where the store was as good as away, because this
 * machine was busy.
 */
function neverRefused(t: Test, load: ReplicaLoad, tenant: Tenant, { fromMs, toMs }: Stretch): void {
  const its = load.sent.filter(({ tenant: of, atMs }) => of === tenant && atMs >= fromMs && atMs <= toMs);
  const late = load.sent.filter(({ tookMs }) => tookMs >= lateness.lateMs);
  const refused = its.filter(({ status }) => status === 429);
  const isNearLate = (atMs: number): boolean =>
    late.some((one) => atMs >= one.atMs && atMs <= one.atMs + one.tookMs + lateness.afterLateMs);
  const guessed = refused.filter(({ atMs }) => !isNearLate(atMs));
  t.equal(
    guessed.length,
    0,
    `${tenant.name}: ${refused.length} of ${its.length} refused, ${late.length} late`,
  );
}

/** After a rest the whole burst passes at once, over all replicas, and no more. A store that is late, on a busy machine, may spoil a round. */
async function wholeBurst(t: Test, bursts: (count: number) => Promise<number>): Promise<void> {
  const rounds: (readonly [number, number])[] = [];
  do {
    rounds.push([await bursts(40), await bursts(40)]);
    await sleep(4_500);
  } while (rounds.length < 5 && rounds.at(-1)?.[0] !== 40);
  const [whole, more = 40] = rounds.at(-1) ?? [];
  t.ok(
    whole === 40 && more <= 10,
    `of 40, and of 40 more: ${rounds.map((round) => round.join(' and ')).join('; ')}`,
  );
}

/** Whenever its limit was asked, in three seconds, some of its requests went through. */
function neverShutOut(t: Test, load: ReplicaLoad, tenant: Tenant, stretch: Stretch): void {
  const steps = decided(load, tenant, 3_000, stretch).filter(({ all }) => all >= 5);
  t.ok(steps.length > 2, `${tenant.name} was asked about`);
  const none = steps.filter(({ admitted }) => admitted === 0);
  t.same(none, [], `${tenant.name} was let through, always`);
  const part =
    steps.reduce((sum, { admitted }) => sum + admitted, 0) / steps.reduce((sum, { all }) => sum + all, 0);
  t.comment(`${tenant.name}: ${(100 * part).toFixed(1)} % let through`);
}
