/** Quotas that all replicas use up together, and what passes meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { awayFromMidnight } from '../../../support/away-from-midnight.ts';
import type { History, Situation } from './history.ts';
import type { Asked, Replica } from './replica.ts';
import type { Tenants } from './tenants.ts';

/** Requests under way at once to each replica. */
const lanes = 3;

/** Rejections that each lane gets, with nothing admitted meanwhile, before a quota counts as used up. */
const inRow = 20;

export const ways = [
  'by the day of a parent',
  'by the month of a sub-account',
  'by the day of a plan',
] as const;

export interface QuotaParts {
  readonly replicas: readonly Replica[];
  readonly tenants: Tenants;
  readonly history: History;
  readonly stopped: () => boolean;
}

interface QuotaPlan {
  readonly way: (typeof ways)[number];
  /** How long requests come before it is set, in milliseconds; 0: it is there before the first. */
  readonly loadMs: number;
  /** What is left when it is set. */
  readonly left: number;
}

/**
 * Uses up a quota, and tells the history what passed beyond it and what was refused before. Resolves to whether that says
 * anything: requests that a replica has counted may be missing if it began anew meanwhile.
 */
export async function useUp(
  parts: QuotaParts,
  { way, loadMs, left }: QuotaPlan,
  situation: Situation = 'quota set under load',
): Promise<boolean> {
  const { replicas, history, stopped } = parts;
  await awayFromMidnight();
  await Promise.all(replicas.map((replica) => replica.ready()));
  const { key, set } = await newTenant(parts.tenants, way);
  const before = await idsOf(replicas);
  const load = newLoad(parts, key);
  const early = loadMs > 0 ? load.send() : null;
  await sleep(loadMs);
  load.quota = load.passed + left;
  if ((await set(load.quota)) === null) return false;
  // With nothing left, those count that no replica could refuse yet.
  const all = Math.max(load.quota, load.passed + load.underWay);
  await (early ?? load.send());
  if ((await idsOf(replicas)) !== before) {
    history.met['quota not judged, since a replica began anew'] += 1;
    return false;
  }
  const seen = `${situation}, ${way}: ${load.passed} of ${load.quota}, ${all} at the 2xx, ${load.guessed} guesses`;
  if (load.passed > 1.001 * all + replicas.length) history.over.push(seen);
  const [first] = load.early;
  if (first !== undefined) history.early.push(`${seen}, ${load.early.length} refused, the first at ${first}`);
  if (stopped()) return false;
  history.met[situation] += 1;
  return true;
}

/** The same with a quota that is there before the first request, and PostgreSQL 40 ms away. */
export async function useUpFarAway(
  parts: QuotaParts,
  way: QuotaPlan['way'],
  quota: number,
): Promise<boolean> {
  for (const { toPostgres } of parts.replicas) toPostgres.delay(20);
  try {
    return await useUp(parts, { way, loadMs: 0, left: quota }, 'quota with PostgreSQL 40 ms away');
  } finally {
    for (const { toPostgres } of parts.replicas) {
      toPostgres.delay(0);
      // Bytes that are still under way would arrive after later ones.
      toPostgres.cut();
    }
  }
}

/** The ids of replicas: one that begins anew gets another. */
async function idsOf([replica]: readonly Asked[]): Promise<string> {
  const list = await replica?.operator.send('GET', '/admin/v1/replicas', { limitMs: 30_000 });
  const data = (list?.body['data'] ?? []) as { readonly id: string }[];
  return JSON.stringify(data.map(({ id }) => id).sort());
}

async function newTenant(tenants: Tenants, way: QuotaPlan['way']) {
  const operate = (method: 'PATCH' | 'PUT', path: string, body: object) =>
    tenants.insist(method, `/admin/v1${path}`, { body }, (replica) => replica.operator);
  const parent = await tenants.createParent();
  const plan = `plan-${parent.id.slice(-8)}`;
  if (way === 'by the day of a plan') {
    await operate('PUT', `/plans/${plan}`, {});
    await operate('PATCH', `/accounts/${parent.id}`, { plan });
  }
  const sub = await tenants.createSubAccount(parent);
  const set = (quota: number) => {
    const [day, month] = [{ limits: { requests_per_day: quota } }, { limits: { requests_per_month: quota } }];
    if (way === 'by the day of a parent') return operate('PATCH', `/accounts/${parent.id}`, day);
    if (way === 'by the day of a plan') return operate('PUT', `/plans/${plan}`, day);
    return tenants.insist('PATCH', `/v1/sub-accounts/${sub}`, { key: parent.key, body: month });
  };
  return { key: (await tenants.mint(parent, sub)).key, set };
}

function newLoad({ replicas, stopped }: QuotaParts, key: string) {
  const refused = replicas.flatMap(() => Array<number>(lanes).fill(0));
  const load = {
    quota: Infinity,
    passed: 0,
    underWay: 0,
    /** Rejections without an answer of PostgreSQL. */
    guessed: 0,
    /** How many had passed or might pass at a `quota_exceeded` before its time. */
    early: [] as number[],
    /** Sends requests through all replicas until the quota is used up. */
    send: () => Promise.all(refused.map((_, i) => lane(replicas[i % replicas.length] as Replica, i))),
  };
  /** Requests without a response of the service, which may have passed. */
  let lost = 0;
  const lane = async ({ client }: Asked, i: number): Promise<void> => {
    while (!stopped() && refused.some((times) => times < inRow)) {
      load.underWay += 1;
      const response = await client.send('GET', '/x', { key, limitMs: 30_000 });
      load.underWay -= 1;
      if (response?.status === 200) load.passed += 1;
      else if (response?.status !== 429) lost += 1;
      const mayPass = load.passed + load.underWay + lost;
      const isExceeded = response?.body['code'] === 'quota_exceeded';
      if (isExceeded) refused[i] = (refused[i] ?? 0) + 1;
      else refused.fill(0);
      if (isExceeded && mayPass < load.quota) load.early.push(mayPass);
      if (response?.body['confirmed'] === false) load.guessed += 1;
      if (response?.status !== 200) await sleep(5);
    }
  };
  return load;
}
