// class: night
/** Quotas that three replicas keep under load: set meanwhile, and in a PostgreSQL far away. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { Random } from '../../support/coherence/random.ts';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startRedis } from '../../support/redis.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { Replica } from './support/replica.ts';
import { Tenants, type Parent } from './support/tenants.ts';

/** Requests under way at once to each replica. */
const lanes = 3;

const ways = ['by the day of a parent', 'by the month of a sub-account', 'by the day of a plan'] as const;

t.test('a quota set under load counts all that came before it', { timeout: 600_000 }, async (t) => {
  const { newTenant, set, send } = await start(t);
  for (const more of [2_000, 0])
    for (const way of ways) {
      const tenant = await newTenant();
      const load = send(tenant.key);
      await sleep(3_000);
      load.quota = load.passed + more;
      await set(way, tenant, load.quota);
      // With nothing left, those count that no replica could refuse yet.
      const all = Math.max(load.quota, load.passed + load.underWay);
      await load.isRefused();
      const { passed, quota, early, guessed } = load;
      t.ok(passed <= 1.001 * all + 3, `${way}: ${passed} of ${quota}, ${all} at the 2xx, ${guessed} guesses`);
      t.same(early, [], 'nobody was refused with room');
    }
});

t.test(
  'with PostgreSQL 40 ms away quota_exceeded comes when all is used, and not before',
  { timeout: 600_000 },
  async (t) => {
    const { replicas, newTenant, set, send } = await start(t);
    for (const { toPostgres } of replicas) toPostgres.delay(20);
    for (const quota of [100, 500, 2_000]) {
      const tenant = await newTenant();
      await set('by the day of a parent', tenant, quota);
      const load = send(tenant.key, quota);
      await load.isRefused();
      const { passed, early, guessed } = load;
      t.ok(passed >= quota && passed <= 1.001 * quota + 3, `${passed} of ${quota}, ${guessed} guesses`);
      t.same(early, [], 'nobody was refused with room');
    }
  },
);

interface Tenant {
  readonly parent: Parent;
  readonly plan: string;
  readonly sub: string;
  /** Of the sub-account. */
  readonly key: string;
}

async function start(t: Test) {
  await awayFromMidnight();
  const [postgres, redis, upstream] = await Promise.all([startPostgres(t), startRedis(t), startUpstream(t)]);
  const urls = { postgresUrl: postgres.url, redisUrl: redis.url, upstreamUrl: upstream.url };
  const replicas: Replica[] = [];
  for (const name of ['one', 'two', 'three']) {
    replicas.push(await Replica.make(t, name, { ...urls, leaseMs: 1_000 }));
    await replicas.at(-1)?.ready();
  }
  const tenants = new Tenants(replicas, new Random(1), () => false);
  const operate = (method: 'PATCH' | 'PUT', path: string, body: object) =>
    tenants.insist(method, `/admin/v1${path}`, { body }, (replica) => replica.operator);

  const newTenant = async (): Promise<Tenant> => {
    const parent = await tenants.createParent();
    const plan = `plan-${parent.id.slice(-8)}`;
    await operate('PUT', `/plans/${plan}`, {});
    await operate('PATCH', `/accounts/${parent.id}`, { plan });
    const sub = await tenants.createSubAccount(parent);
    return { parent, plan, sub, key: (await tenants.mint(parent, sub)).key };
  };
  const set = async (way: (typeof ways)[number], { parent, plan, sub }: Tenant, quota: number) => {
    const [day, month] = [{ limits: { requests_per_day: quota } }, { limits: { requests_per_month: quota } }];
    if (way === 'by the day of a parent') await operate('PATCH', `/accounts/${parent.id}`, day);
    else if (way === 'by the day of a plan') await operate('PUT', `/plans/${plan}`, day);
    else await tenants.insist('PATCH', `/v1/sub-accounts/${sub}`, { key: parent.key, body: month });
  };

  /** Sends requests through all replicas until {@link isRefused}. */
  const send = (key: string, quota = Infinity) => {
    const before = upstream.heads;
    let [ended, admittedMs] = [false, performance.now()];
    const load = {
      quota,
      underWay: 0,
      /** Rejections without an answer of PostgreSQL. */
      guessed: 0,
      /** How many had passed or might pass at a `quota_exceeded` before its time. */
      early: [] as number[],
      /** Requests that the service got. */
      get passed() {
        return upstream.heads - before;
      },
      /** Resolves when every request was rejected by the quota for a second, and ends the load. */
      isRefused: async () => {
        await eventually(() => performance.now() - admittedMs > 1_000);
        ended = true;
        await Promise.all(running);
      },
    };
    const lane = async ({ client }: Replica): Promise<void> => {
      while (!ended) {
        load.underWay += 1;
        const response = await client.send('GET', '/x', { key, limitMs: 30_000 });
        load.underWay -= 1;
        const isExceeded = response?.body['code'] === 'quota_exceeded';
        if (!isExceeded) admittedMs = performance.now();
        else if (load.passed + load.underWay < load.quota) load.early.push(load.passed + load.underWay);
        if (response?.body['confirmed'] === false) load.guessed += 1;
        if (response?.status !== 200) await sleep(5);
      }
    };
    const running = replicas.flatMap((replica) => Array.from({ length: lanes }, () => lane(replica)));
    return load;
  };
  return { replicas, newTenant, set, send };
}
