// class: real
/**
 * The usage that reports show, against what an upstream has counted and clients have received, while the gateway is killed at random moments under load,
 * PostgreSQL is away, Redis is flushed and the disk of the journal is full; and while its workers are.
 *
 * TEST_USAGE_KILLS says how often it is killed (2), TEST_USAGE_RATE how many requests a second there are (300),
 * TEST_USAGE_AWAY_S how long PostgreSQL is away (6).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { Random, seedOfRun } from '../../support/coherence/random.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient } from '../../support/http-client.ts';
import { startPostgres } from '../../support/postgres.ts';
import { readiness, startProcess, tempFolder } from '../../support/process.ts';
import { childrenOf } from '../../support/processes.ts';
import { startRedis } from '../../support/redis.ts';
import { valueOf } from '../../support/scrape.ts';
import { rawSql } from '../../support/store.ts';
import { CountingUpstream, startNumberedLoad, unitsOf } from './support/numbered-load.ts';

const drawn = new Random(seedOfRun);
const kills = Number(process.env['TEST_USAGE_KILLS'] ?? 2);
const perSecond = Number(process.env['TEST_USAGE_RATE'] ?? 300);
const awayS = Number(process.env['TEST_USAGE_AWAY_S'] ?? 6);

t.test('what an upstream got is in the report, once, whatever happens', { timeout: 3_600_000 }, async (t) => {
  const setting = await start(t);
  const { gateway, postgres, redis, load, disk } = setting;
  for (let kill = 0; kill < kills; kill++) {
    await sleep(500 + drawn.next() * 2_500);
    if (kill % 5 === 1) await redis.flushall();
    if (kill === 1) {
      await postgres.stop();
      await sleep(awayS * 1_000);
      // Killed while there is nowhere to put what it has counted.
      await gateway.kill();
      await postgres.start();
    } else await gateway.kill();
    await gateway.start();
    // A file that asserts nothing for minutes is ended before it can say what it counted.
    t.pass(`killed ${kill + 1} times`);
  }

  if (disk !== null) {
    await eventually(async () => {
      // Each removed batch makes room for the next one, so a disk that is filled once may do for as long as the load lasts.
      disk.fill();
      return (await gateway.metric('usage_journal_unwritable')) === 1;
    });
    const before = load.statuses.get(200) ?? 0;
    await eventually(() => (load.statuses.get(200) ?? 0) > before);
    t.pass('and stops nothing');
    disk.free();
    await eventually(async () => (await gateway.metric('usage_journal_unwritable')) === 0);
    await sleep(500);
    await gateway.kill();
    await gateway.start();
  }
  await load.stop();
  await gateway.end();
  await expectExact(t, setting, gateway.kills, {
    postgres_away_s: awayS,
    disk_full: disk === null ? 'NOT TRIED: no tmpfs can be mounted here' : 'tried',
  });
});

t.test(
  'nothing is lost or counted twice when workers die, one or all of them',
  { timeout: 3_600_000 },
  async (t) => {
    const setting = await start(t, { WORKERS: '2' });
    const { gateway, load } = setting;
    let workersKilled = 0;
    for (let kill = 0; kill < kills; kill++) {
      await sleep(500 + drawn.next() * 2_000);
      const [victim] = gateway.workers();
      if (victim === undefined) throw new Error('there is no worker');
      process.kill(victim, 'SIGKILL');
      workersKilled += 1;
      // The primary forks another one, which takes over the journal that this one left.
      await eventually(() => gateway.workers().length === 2 && !gateway.workers().includes(victim));
      await sleep(500 + drawn.next() * 1_000);
      const all = gateway.workers();
      await gateway.kill();
      for (const pid of all) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
      workersKilled += all.length;
      await eventually(() => all.every((pid) => !existsSync(`/proc/${pid}`)));
      await gateway.start();
      t.pass(`killed ${workersKilled} workers`);
    }
    await load.stop();
    await gateway.end();
    await expectExact(t, setting, workersKilled, { workers: 2 });
  },
);

/**
 * @param killed processes that served, and were killed
 * @param about is told beside the figures
 */
async function expectExact(t: Test, setting: Setting, killed: number, about: object): Promise<void> {
  const { upstream, load } = setting;
  const counted = await setting.counted();

  let [lost, unreceived] = [0, 0];
  for (const [of, received] of upstream.counts) lost += Math.max(0, received - (counted.get(of) ?? 0));
  for (const [of, requests] of counted) unreceived += Math.max(0, requests - (upstream.counts.get(of) ?? 0));
  // Of those that were counted and did not arrive, each broke at a kill.
  const mayBe = load.broken.filter((number) => !upstream.received.has(number)).length;
  const total = [...counted.values()].reduce((sum, requests) => sum + requests, 0);
  const units = await expectUnits(t, setting);
  const figures = {
    ...{ processes_killed: killed, per_second: perSecond, ...about },
    ...{ sent: load.sent, received: upstream.received.size, counted: total, lost },
    ...{ counted_though_not_received: unreceived, broken_and_not_received: mayBe },
    ...units,
    statuses: Object.fromEntries(load.statuses),
  };
  t.comment(JSON.stringify(figures));
  t.ok(upstream.received.size > 100, 'there was something to count');
  t.same(upstream.repeated, [], 'nothing was sent twice');
  t.equal(lost, 0, 'nothing is missing');
  t.ok(unreceived <= mayBe, 'nothing is counted twice: what did not arrive was lost in a kill');
  t.ok(unreceived <= killed * 64, 'and was in the last turn of a process');
  t.same(setting.journals(), [], 'no journal with counts is left');
}

/** Each response that a client received has its units in the report. Nothing else has, but for what broke at a kill. */
async function expectUnits(t: Test, { load, keyIds, countedUnits }: Setting): Promise<object> {
  const counted = await countedUnits();
  const ofBroken = keyIds.map(() => 0);
  for (const number of load.broken) {
    const key = number % keyIds.length;
    ofBroken[key] = (ofBroken[key] ?? 0) + unitsOf(number);
  }
  let [received, lost, beyond, mayBe] = [0, 0, 0, 0];
  for (const [i, key] of keyIds.entries()) {
    const more = (counted.get(key) ?? 0) - (load.units[i] ?? 0);
    received += load.units[i] ?? 0;
    lost += Math.max(0, -more);
    beyond += Math.max(0, more);
    mayBe += ofBroken[i] ?? 0;
    t.ok(more <= (ofBroken[i] ?? 0), 'no units are counted twice');
  }
  t.ok(received > 1_000_000);
  t.equal(lost, 0, 'no units of a response that a client received are missing');
  return { units_received: received, units_lost: lost, units_beyond: beyond, units_of_broken: mayBe };
}

type Setting = Awaited<ReturnType<typeof start>>;

async function start(t: Test, more: Readonly<Record<string, string>> = {}) {
  const [postgres, redisServer] = [await startPostgres(t), await startRedis(t)];
  const redis = new Redis(redisServer.url);
  t.teardown(() => redis.disconnect());
  const upstream = new CountingUpstream();
  const upstreamUrl = await upstream.start();
  t.teardown(() => upstream.stop());
  const folder = tempFolder(t);
  const disk = smallDisk(t, folder);
  const journal = join(folder, 'usage');
  const config = join(folder, 'gateway.yaml');
  writeFileSync(config, 'usage: { units_header: X-Units }\n');
  const env = {
    ...{ DATABASE_URL: postgres.url, REDIS_URL: redisServer.url, UPSTREAM_URL: upstreamUrl },
    ...{ ADMIN_TOKEN: operatorToken, LOG_LEVEL: 'warn', USAGE_JOURNAL_DIR: journal, CONFIG: config },
    ...more,
  };
  const gateway = await keptGateway(t, env);
  const internal = httpClient(t, gateway.internalUrl);
  const keys: string[] = [];
  const keyIds: string[] = [];
  for (let i = 0; i < 20; i++) {
    const { body } = await internal('POST', '/admin/v1/accounts', {
      key: operatorToken,
      body: { name: 'p' },
    });
    const path = `/admin/v1/accounts/${String(body['id'])}/api-keys`;
    const made = await internal('POST', path, { key: operatorToken, body: { name: 'k', scopes: [] } });
    keys.push(String(made.body['api_key']));
    keyIds.push(String(made.body['id']));
  }
  const load = startNumberedLoad(gateway.url, keys, perSecond);
  t.teardown(() => load.stop());
  const sql = rawSql(t, postgres.url);
  return {
    ...{ gateway, upstream, postgres, redis, load, disk, keyIds },
    countedUnits: async () => {
      const rows = await sql<{ key: string; units: number }[]>`
        select key_id as key, sum(units)::float8 as units from usage_hourly group by 1`;
      return new Map(rows.map(({ key, units }) => [key, units]));
    },
    counted: async () => {
      const rows = await sql<{ of: string; requests: number }[]>`
        select account_id || ' ' || key_id as of, sum(requests)::int as requests from usage_hourly group by 1`;
      return new Map(rows.map(({ of, requests }) => [of, requests]));
    },
    journals: () =>
      // A process that is ended while it starts leaves a journal to the next one, with the line of its format alone.
      execFileSync('find', [journal, '-name', '*.batch', '-size', '+24c'], { encoding: 'utf8' })
        .split('\n')
        .filter(Boolean),
  };
}

/** A gateway that is killed and started again, on the same ports and journals. */
async function keptGateway(t: Test, env: Readonly<Record<string, string>>) {
  let running = await startProcess(t, env);
  const { url, internalUrl } = running;
  const ready = (): Promise<void> =>
    eventually(async () => (await readiness(internalUrl).catch(() => null))?.status === 200);
  await ready();
  const gateway = {
    url,
    internalUrl,
    kills: 0,
    /** Process ids, where there is more than one process. */
    workers: () => childrenOf(running.program.child.pid as number),
    kill: async () => {
      gateway.kills += 1;
      await running.program.kill('SIGKILL');
    },
    start: async () => {
      running = await startProcess(t, running.env);
      await ready();
    },
    /**
     * In order, once all serve and what others have left is gone: what is not taken over by then is left to the next
     * process. A slow store may keep it from adding everything in its grace period. It says so by exit code 1, and the
     * next process adds the rest.
     */
    end: async () => {
      for (;;) {
        await eventually(async () => {
          const workers = gateway.workers().length;
          if (workers > 0 && (await gateway.metric('workers')) !== workers) return false;
          return journalsIn(String(env['USAGE_JOURNAL_DIR'])) === Math.max(1, workers);
        });
        if ((await running.program.kill('SIGTERM')) !== 1) return;
        await gateway.start();
      }
    },
    metric: (name: string) => valueOf(internalUrl, `tenancy_gateway_${name}`),
  };
  return gateway;
}

/** Counts the whole journals. They are in folders of their stores, and each has a file that marks it as whole. */
function journalsIn(dir: string): number {
  const files = execFileSync('find', [dir, '-ignore_readdir_race', '-name', 'journal'], { encoding: 'utf8' });
  return files.split('\n').filter(Boolean).length;
}

/** A disk of 4 MB below `folder`; `null` where none can be mounted. */
function smallDisk(t: Test, folder: string) {
  const path = join(folder, 'usage');
  mkdirSync(path);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    t.comment('NO TMPFS CAN BE MOUNTED HERE: A FULL DISK WAS NOT TRIED');
    return null;
  }
  t.teardown(() => execFileSync('umount', ['-l', path]));
  const filler = join(path, 'filler');
  return {
    fill: () => {
      for (const size of [2 ** 20, 2 ** 14, 1]) {
        try {
          for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
        } catch {
          // It is full, to that size.
        }
      }
    },
    free: () => rmSync(filler),
  };
}
