/** What goes wrong with processes, stores and connections, one thing at a time or two. */
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { openPostgres } from '../../../../src/adapters/postgres/store.ts';
import type { Random } from '../../../support/coherence/random.ts';
import type { PrivateServer } from '../../../support/servers.ts';
import { createParent, createSub } from '../../../support/store.ts';
import { waysToSilence, withTriggersOff } from '../../../support/triggers-off.ts';
import type { Cluster } from './cluster.ts';
import { useUp, useUpFarAway, ways, type QuotaParts } from './quotas.ts';
import type { Replica } from './replica.ts';

export interface Victims extends QuotaParts {
  /** The primary, where there is a cluster. */
  readonly postgres: PrivateServer;
  /** `null` where PostgreSQL has no standby. */
  readonly cluster: Cluster | null;
  readonly redis: PrivateServer;
  /** The longest T of a replica, milliseconds. */
  readonly leaseMs: number;
  /** The S of all replicas, milliseconds. */
  readonly streamsMs: number;
}

/** How long something is silent: a part of T, more than T, or so long that its row is gone and its streams have ended. */
function silentMs({ leaseMs, streamsMs }: Victims, random: Random): number {
  return random.between(0.4, 2) * leaseMs + random.pick([0, streamsMs, 2 * streamsMs]);
}

/** Does harm, and undoes it before it resolves. */
export type Fault = (victims: Victims, random: Random) => Promise<void>;

/** Signals a worker, unless it has ended: its primary may have replaced it at any time. */
function signal(worker: number, name: NodeJS.Signals): void {
  try {
    process.kill(worker, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** What goes wrong with one of several workers, while the others serve. */
export const workerFaults: Readonly<Record<string, Fault>> = {
  'a worker is killed': async ({ replicas }, random) => {
    const replica = random.pick(replicas);
    signal(random.pick(replica.workers()), 'SIGKILL');
    await replica.ready();
  },

  'a worker is paused': async ({ replicas, leaseMs }, random) => {
    const worker = random.pick(random.pick(replicas).workers());
    signal(worker, 'SIGSTOP');
    await sleep(random.between(0.4, 2) * leaseMs);
    signal(worker, 'SIGCONT');
  },
};

export const faults: Readonly<Record<string, Fault>> = {
  'a replica is paused': async (victims, random) => {
    const replica = random.pick(victims.replicas);
    replica.pause();
    await sleep(silentMs(victims, random));
    replica.resume();
  },

  'a replica is killed': async ({ replicas }, random) => {
    const replica = random.pick(replicas);
    await replica.kill();
    await sleep(random.between(0, 300));
    await replica.start();
    await replica.ready();
  },

  'a replica leaves': async ({ replicas }, random) => {
    const replica = random.pick(replicas);
    await replica.stop();
    await replica.start();
    await replica.ready();
  },

  // The others' writers wait for the paused one; killed meanwhile, they have committed and never respond.
  'a writer is killed between commit and response': async ({ replicas, leaseMs }, random) => {
    const [paused, writer] = shuffled(replicas, random);
    if (paused === undefined || writer === undefined) return;
    paused.pause();
    await sleep(random.between(0.2, 0.8) * leaseMs);
    await writer.kill();
    await sleep(random.between(0, 0.5) * leaseMs);
    paused.resume();
    await writer.start();
    await writer.ready();
  },

  'Redis is paused': async ({ redis }, random) => {
    await redis.pause();
    await sleep(random.between(100, 1_500));
    await redis.resume();
  },

  'Redis is killed': async ({ redis }, random) => {
    await redis.kill();
    await sleep(random.between(0, 500));
    await redis.start();
  },

  'Redis is flushed': async ({ redis }) => withRedis(redis, async (client) => void (await client.flushall())),

  'Redis is brought back to what it was': async ({ redis }, random) => {
    const dump = await withRedis(redis, dumpOf);
    await sleep(random.between(300, 1_500));
    for (let times = 0; times < 3; times++) {
      await withRedis(redis, async (client) => {
        await client.flushall();
        for (const [key, value] of dump ?? []) await client.set(key, value);
      });
      await sleep(50);
    }
  },

  'PostgreSQL is paused': async ({ postgres, leaseMs }, random) => {
    await postgres.pause();
    await sleep(random.between(0.1, 2) * leaseMs);
    await postgres.resume();
  },

  'PostgreSQL is killed': async ({ postgres }, random) => {
    await postgres.kill();
    await sleep(random.between(0, 300));
    await postgres.start();
  },

  'PostgreSQL restarts': async ({ postgres }) => postgres.restart(),

  'connections to PostgreSQL are cut': async ({ replicas }, random) => {
    for (let times = 0; times < 3; times++) {
      random.pick(replicas).toPostgres.cut();
      await sleep(random.between(10, 200));
    }
  },

  'a replica cannot reach PostgreSQL': async (victims, random) => {
    const { toPostgres } = random.pick(victims.replicas);
    toPostgres.stall(...random.pick([[], ['client'], ['server']] as const));
    await sleep(silentMs(victims, random));
    if (random.chance(0.5)) toPostgres.cut();
    toPostgres.resume();
  },

  'a replica cannot reach either store': async ({ replicas, leaseMs }, random) => {
    const { toPostgres, toRedis } = random.pick(replicas);
    toPostgres.stall();
    toRedis.stall();
    await sleep(random.between(0.4, 2) * leaseMs);
    toPostgres.resume();
    toRedis.resume();
  },

  // The old primary is gone for good, as fencing would see to.
  'PostgreSQL fails over to its standby': async ({ cluster, replicas }) => {
    if (cluster === null) return;
    leadAll(replicas, await cluster.failOver());
    await cluster.follow();
  },

  // The first new primary gives out positions that the second gives out for other changes.
  'PostgreSQL fails over twice, to one timeline number': async ({ cluster, replicas }, random) => {
    if (cluster === null) return;
    const target = await cluster.failOverTwice(async (first) => {
      const store = openPostgres({ url: first.url, maxConnections: 1 });
      const sql = postgres(first.url, { max: 1, fetch_types: false, onnotice: () => undefined });
      try {
        const { id } = await createParent(store.tenants);
        for (let i = random.between(1, 8); i > 0; i--) await createSub(store.tenants, id);
        const locked = sql.begin(async (transaction) => {
          // Changes that are judged get no 2xx here.
          await transaction`lock table account, api_key, plan in exclusive mode`;
          leadAll(replicas, first.url);
          await sleep(random.between(500, 2_500));
          await first.kill();
        });
        await locked.catch(ignore);
      } finally {
        await Promise.all([store.close(), sql.end({ timeout: 1 })]);
      }
    });
    leadAll(replicas, target);
    await cluster.follow();
  },

  'a replica cannot reach Redis': async ({ replicas }, random) => {
    const { toRedis } = random.pick(replicas);
    toRedis.stall(...random.pick([[], ['client'], ['server']] as const));
    await sleep(random.between(100, 1_500));
    toRedis.resume();
  },

  'triggers are off': async ({ postgres, tenants, history, leaseMs }, random) => {
    const before = tenants.refused;
    await withTriggersOff(postgres.url, random.pick(waysToSilence), () =>
      sleep(random.between(0.5, 3) * leaseMs),
    );
    history.met['change refused with triggers off'] += tenants.refused - before;
  },

  // Nothing else goes wrong meanwhile: what a replica has counted may be lost with it.
  'a quota is set under load': async (victims, random) => {
    const loadMs = random.between(200, 3_000);
    await useUp(victims, { way: random.pick(ways), loadMs, left: random.pick([0, 20, 200]) });
  },

  'PostgreSQL is 40 ms away': async (victims, random) => {
    await useUpFarAway(victims, random.pick(ways), random.pick([50, 200]));
  },
};

function leadAll(replicas: readonly Replica[], url: string): void {
  for (const { toPostgres } of replicas) {
    toPostgres.leadTo(url);
    toPostgres.cut();
  }
}

async function dumpOf(client: Redis): Promise<[string, string][]> {
  const keys = await client.keys('tg:*');
  const values = keys.length === 0 ? [] : await client.mget(keys);
  return keys.flatMap((key, i) => (values[i] ? [[key, values[i]] as [string, string]] : []));
}

/** Where Redis is away because of another fault, nothing happens to it. */
async function withRedis<T>(
  { url }: PrivateServer,
  work: (client: Redis) => Promise<T>,
): Promise<T | undefined> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, commandTimeout: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function ignore(): void {}
