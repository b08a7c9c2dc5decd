import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { uuidV7 } from '../../src/domain/ids.ts';
import { Cluster } from '../../test/e2e/faults/support/cluster.ts';
import type { Scope } from '../../test/support/servers.ts';
import { TcpProxy } from '../../test/support/tcp-proxy.ts';
import { unknownKey } from '../lib/tenants.ts';
import { slotMs, type OpenLoop, type Slot } from '../load/paced.ts';
import { ms, us, type Finding, type Promised } from './figures.ts';
import type { Gateway, Load, OutageEnvironment } from './environment.ts';
import type { Options } from './options.ts';

/** Tenants that ask for the first time, all at once, of a replica that has just started; milliseconds to PostgreSQL and back. */
const colds = [
  { tenants: 300, roundTripMs: 0 },
  { tenants: 1_200, roundTripMs: 5 },
  { tenants: 300, roundTripMs: 80 },
];
/** Tenants of the failover, and the milliseconds within which 99 % of the requests have to be served again. */
const failover = { tenants: 10_000, goalMs: 1_000 };
/** What "at once" is: the generator sends them within this time. */
const atOnceSeconds = 0.1;
/** Share of a second's requests that may wait: by Little's law each is then answered within a quarter of a second. */
const mayWait = 0.25;
const [calmMs, afterMs] = [3_000, 12_000];
/** Slots over which the share of requests that are served is taken, and for how many in a row it has to be enough. */
const [slotsOfShare, slotsInARow] = [5, 20];

/** A parent's key, and the sub-account that it acts as. */
interface Acting {
  readonly key: string;
  readonly sub: string;
}

/**
 * Parents that act as a sub-account each: a decision needs the key, both accounts, and nothing of another tenant. Each phase
 * has tenants and a gateway of its own, so nothing is warm that is not meant to be.
 */
export async function tenants(environment: OutageEnvironment, { rate }: Options): Promise<Finding> {
  const ends: (() => unknown)[] = [];
  const scope: Scope = { teardown: (end) => void ends.unshift(end) };
  try {
    const promises: Promised[] = [];
    const rows: string[][] = [];
    await environment.gateway('migrates', 'without Redis');
    for (const cold of colds) {
      const { row, promised } = await coldTenants(environment, scope, cold);
      rows.push(row);
      promises.push(promised);
    }
    const { row, promised } = await throughFailover(environment, scope, rate || 1_000);
    rows.push(row);
    promises.push(promised);
    return { header: ['tenants', 'to PostgreSQL', '2xx', '503', 'others', 'p50', 'slowest'], rows, promises };
  } finally {
    for (const end of ends) await end();
  }
}

interface Phase {
  readonly row: string[];
  readonly promised: Promised;
}

async function coldTenants(
  environment: OutageEnvironment,
  scope: Scope,
  { tenants: count, roundTripMs }: (typeof colds)[number],
): Promise<Phase> {
  const { url } = environment.postgres;
  const acting = await makeTenants(url, count);
  const proxy = await TcpProxy.open(scope, url);
  const gateway = await environment.gateway(`cold ${count}`, 'without Redis', proxy.url);
  proxy.delay(roundTripMs / 2);
  const { p50, max, statuses } = await load(environment, gateway, acting, {
    ...{ rate: count / atOnceSeconds, seconds: atOnceSeconds, connections: count },
  });
  proxy.delay(0);
  const [ok, unavailable] = [statuses['200'] ?? 0, statuses['503'] ?? 0];
  const what = `${count} tenants at once, ${roundTripMs} ms to PostgreSQL`;
  environment.say(`${what}: ${ok} × 200, ${unavailable} × 503, the last after ${us(max)}`);
  return {
    row: [
      `${count} at once, cold`,
      `${roundTripMs} ms`,
      ...[ok, unavailable, count - ok - unavailable].map(String),
      ...[us(p50), us(max)],
    ],
    promised: { what: `${what}: all are served`, seen: `${count - ok} are not`, kept: ok === count },
  };
}

async function throughFailover(environment: OutageEnvironment, scope: Scope, rate: number): Promise<Phase> {
  const cluster = await Cluster.start(scope);
  const { url } = cluster.primary;
  const proxy = await TcpProxy.open(scope, url);
  const gateway = await environment.gateway('failover', 'without Redis', proxy.url);
  const acting = await makeTenants(url, failover.tenants);
  await load(environment, gateway, acting, { rate: 2 * rate, seconds: failover.tenants / rate });
  const slots: Slot[] = [];
  let began = NaN;
  const loaded = load(environment, gateway, acting, {
    rate,
    seconds: (calmMs + afterMs) / 1_000,
    onSlot: (slot) => {
      if (slots.push(slot) === 1) began = performance.now() - slotMs;
    },
  });
  await sleep(calmMs);
  const killed = performance.now();
  const target = await cluster.failOver();
  proxy.leadTo(target);
  proxy.cut();
  const reachable = performance.now();
  environment.say(`promoted and reachable ${ms(reachable - killed)} after the primary was killed`);
  const { p50, max, statuses, due } = await loaded;
  const from = Math.ceil((reachable - began) / slotMs);
  const shares = sharesOf(slots, rate);
  for (let i = from - slotsOfShare; i < from + 100; i += slotsOfShare) {
    const { ok = 0, all = 0, waiting = 0 } = shares[i] ?? {};
    environment.say(`${String((i - from) * slotMs).padStart(6)} ms  ${ok} of ${all} served, ${waiting} wait`);
  }
  const servedMs = servedAfter(shares.slice(from), rate) * slotMs;
  const [ok, unavailable] = [statuses['200'] ?? 0, statuses['503'] ?? 0];
  return {
    row: [
      `${failover.tenants} at ${rate}/s, failover`,
      '0 ms',
      ...[ok, unavailable, due - ok - unavailable].map(String),
      ...[us(p50), us(max)],
    ],
    promised: {
      what: 'after a failover 99 % are served again',
      seen: `${servedMs} ms after PostgreSQL can be reached`,
      kept: servedMs >= 0 && servedMs <= failover.goalMs,
    },
  };
}

/** After how many slots 99 % of the requests are served, and hardly any wait, for a second. */
function servedAfter(shares: readonly Share[], rate: number): number {
  const isServed = ({ ok, all, waiting }: Share): boolean => ok >= 0.99 * all && waiting <= mayWait * rate;
  return shares.findIndex((_, i) => shares.slice(i, i + slotsInARow).every(isServed));
}

interface Share {
  readonly ok: number;
  readonly all: number;
  /** Requests that were due by the end of it and had no response. */
  readonly waiting: number;
}

/** What came in each portion of {@link slotsOfShare}, by the slot it begins with. */
function sharesOf(slots: readonly Slot[], rate: number): Share[] {
  let responses = 0;
  const waiting = slots.map(({ ok, unavailable, other, broken }, i) => {
    responses += ok + unavailable + other + broken;
    return Math.round(((i + 1) * slotMs * rate) / 1_000) - responses;
  });
  return slots.slice(0, -slotsOfShare).map((_, i) => {
    const portion = slots.slice(i, i + slotsOfShare);
    const sum = (of: (slot: Slot) => number): number => portion.reduce((total, slot) => total + of(slot), 0);
    const ok = sum((slot) => slot.ok);
    const all = ok + sum(({ unavailable, other, broken }) => unavailable + other + broken);
    return { ok, all, waiting: Math.max(0, waiting[i + slotsOfShare - 1] ?? 0) };
  });
}

function load(
  environment: OutageEnvironment,
  gateway: Gateway,
  acting: readonly Acting[],
  how: Pick<Load, 'rate' | 'seconds' | 'onSlot' | 'connections'>,
): Promise<OpenLoop> {
  // The load generator writes the bytes 1 and 2 as CR and LF.
  const keys = acting.map(({ key, sub }) => `${key}\x01\x02x-service-acting-tenant: ${sub}`);
  return environment.load(gateway, keys, { connections: 2_000, ...how });
}

/** Parents with a sub-account and a key each, straight in the database: that many take seconds. */
async function makeTenants(url: string, count: number): Promise<Acting[]> {
  const made = Array.from({ length: count }, () => ({
    parent: uuidV7(Date.now(), randomBytes(10)),
    sub: uuidV7(Date.now(), randomBytes(10)),
    id: uuidV7(Date.now(), randomBytes(10)),
    key: unknownKey(),
  }));
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  const of = (what: 'parent' | 'sub' | 'id' | 'key'): string[] => made.map((one) => one[what]);
  await sql`insert into account (id, name, status, sub_accounts, active_sub_accounts)
    select id, 'bench', 'active', 1, 1 from unnest(${of('parent')}::uuid[]) made (id)`;
  await sql`insert into account (id, parent_id, name, status)
    select id, parent, 'bench', 'active' from unnest(${of('sub')}::uuid[], ${of('parent')}::uuid[]) made (id, parent)`;
  await sql`insert into api_key (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4)
    select id, parent, 'bench', '{}', sha256(convert_to(key, 'UTF8')), sha256(convert_to(id::text, 'UTF8')), left(key, 8), right(key, 4)
    from unnest(${of('id')}::uuid[], ${of('parent')}::uuid[], ${of('key')}::text[]) made (id, parent, key)`;
  await sql`analyze`;
  await sql.end();
  return made;
}
