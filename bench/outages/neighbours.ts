import { randomBytes } from 'node:crypto';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { uuidV7 } from '../../src/domain/ids.ts';
import { usageOf } from '../lib/proc.ts';
import { sendSequence, type Sequence } from '../load/wrk-sequence.ts';
import type { Gateway, OutageEnvironment } from './environment.ts';
import { ms, quantile, type Finding } from './figures.ts';
import { makeKeys, type KeyRing } from './keys.ts';
import type { Options } from './options.ts';

/** Of each kind, of the quiet tenant. */
const perSecond = 20;
const warmUp = 100;
const rounds = 3;
/** Sub-accounts of the loud tenant, and hours for which each of them has usage: 720,000 rows. */
const reported = { subAccounts: 1_000, hours: 720 };

/** What the loud tenant does. */
type Noise = Omit<Sequence, 'key'> & { readonly name: string };

interface Seen {
  readonly revokes: number[];
  readonly lookUps: number[];
  readonly failed: string[];
  readonly statuses: Readonly<Record<string, number>>;
  readonly cpuPercent: number;
}

/** One tenant asks for all it can, and another one revokes keys and uses names that no replica has in memory. */
export async function neighbours(environment: OutageEnvironment, options: Options): Promise<Finding> {
  const seconds = options.seconds || 10;
  const gateway = await environment.gateway('replica', 'without Redis');
  const loud = await makeKeys(environment, gateway, 1);
  await fillUsage(environment, loud);
  const probes = 4 * rounds * perSecond * seconds + 2 * warmUp;
  const quiet = new Quiet(gateway, await makeKeys(environment, gateway, probes));
  await quiet.name(environment, probes);
  const now = Date.now();
  const day = (ago: number): string => new Date(now - ago * 86_400_000).toISOString().slice(0, 10);
  const noises: readonly (Noise | null)[] = [
    null,
    { name: '1,500 unknown names', connections: 1_500, path: '/shipments', acting: 'ext:unknown-{n}' },
    {
      name: '1,500 unknown ids',
      connections: 1_500,
      path: '/shipments',
      acting: '00000000-0000-7000-8000-{n}',
    },
    {
      name: '300 usage reports',
      connections: 300,
      path: `/v1/sub-accounts/usage?from=${day(29)}&to=${day(-1)}&granularity=day`,
    },
  ];
  for (let i = 0; i < warmUp; i++) await Promise.all([quiet.revoke(), quiet.lookUp()]);
  const seen = noises.map((): Seen[] => []);
  for (let round = 1; round <= rounds; round++) {
    for (const [i, noise] of noises.entries()) {
      const one = await measure(environment, gateway, quiet, loud, noise, seconds);
      environment.say(`round ${round}, ${noise?.name ?? 'alone'}: revokes p99 ${p99(one.revokes)}`);
      seen[i]?.push(one);
      await sleep(3_000);
    }
  }
  return found(noises, seen);
}

/** The tenant beside the loud one. */
class Quiet {
  readonly #gateway: Gateway;
  readonly #ring: KeyRing;
  #revoked = 0;
  #lookedUp = 0;

  constructor(gateway: Gateway, ring: KeyRing) {
    this.#gateway = gateway;
    this.#ring = ring;
  }

  /** Gives it sub-accounts by name, straight in the database. */
  async name({ postgres: { url } }: OutageEnvironment, count: number): Promise<void> {
    await addSubAccounts(url, this.#ring.parent.id, 'quiet', count);
  }

  async revoke(): Promise<number | undefined> {
    const { keys, sub, parent } = this.#ring;
    const key = keys[this.#revoked++];
    if (key === undefined) throw new Error('no key is left to revoke');
    const path = `/v1/sub-accounts/${sub}/api-keys/${key.id}/revoke`;
    return (await this.#gateway.client.send('POST', path, { key: parent.key, limitMs: 20_000 }))?.status;
  }

  async lookUp(): Promise<number | undefined> {
    const headers = { 'x-service-acting-tenant': `ext:quiet-${++this.#lookedUp}` };
    const { key } = this.#ring.parent;
    return (await this.#gateway.client.send('GET', '/shipments', { key, headers, limitMs: 20_000 }))?.status;
  }
}

async function measure(
  { base }: OutageEnvironment,
  gateway: Gateway,
  quiet: Quiet,
  loud: KeyRing,
  noise: Noise | null,
  seconds: number,
): Promise<Seen> {
  const sent = noise && { ...noise, key: loud.parent.key };
  const making = sent === null ? Promise.resolve({}) : sendSequence(base, gateway.port, sent, seconds + 2);
  await sleep(1_000);
  try {
    setPriority(-15);
  } catch {
    // Not allowed: then it shares the core as all do.
  }
  const before = usageOf([gateway.pid]).cpuMs;
  const failed: string[] = [];
  const [revokes, lookUps]: [number[], number[]] = [[], []];
  const underWay: Promise<void>[] = [];
  const began = performance.now();
  for (let i = 0; i < perSecond * seconds; i++) {
    const dueMs = began + (i * 1_000) / perSecond;
    await sleep(Math.max(0, dueMs - performance.now()));
    for (const [send, took] of [
      [() => quiet.revoke(), revokes],
      [() => quiet.lookUp(), lookUps],
    ] as const) {
      const sentMs = performance.now();
      underWay.push(
        send().then((status) => {
          took.push(performance.now() - sentMs);
          if (status !== 200) failed.push(String(status));
        }),
      );
    }
  }
  await Promise.all(underWay);
  const cpuPercent = (100 * (usageOf([gateway.pid]).cpuMs - before)) / (performance.now() - began);
  return { revokes, lookUps, failed, statuses: await making, cpuPercent };
}

async function fillUsage(environment: OutageEnvironment, loud: KeyRing): Promise<void> {
  const { url } = environment.postgres;
  await addSubAccounts(url, loud.parent.id, 'loud', reported.subAccounts);
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql`
    insert into usage_hourly
    select ${loud.parent.id}, a.id, h, a.id, 90, 60, 30, 2, 1, 9000, 90000
    from account a, generate_series(
      date_trunc('hour', now(), 'UTC') - ${reported.hours} * interval '1 hour', now(), interval '1 hour') h
    where a.parent_id = ${loud.parent.id} and a.external_id like 'loud-%'`;
  await sql`vacuum (analyze) usage_hourly`;
  const [row] = await sql<[{ count: string }]>`select count(*) from usage_hourly`;
  await sql`checkpoint`;
  await sql.end();
  environment.say(`${row.count} rows of usage`);
}

async function addSubAccounts(url: string, parent: string, name: string, count: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  const made = Array.from({ length: count }, (_, i) => ({
    id: uuidV7(Date.now(), randomBytes(10)),
    name: `${name}-${i + 1}`,
  }));
  await sql`
    insert into account (id, parent_id, name, external_id, status)
    select id, ${parent}, name, name, 'active'
    from unnest(${made.map((each) => each.id)}::uuid[], ${made.map((each) => each.name)}::text[]) as made (id, name)`;
  await sql`vacuum (analyze) account`;
  await sql.end();
}

function found(noises: readonly (Noise | null)[], seen: readonly (readonly Seen[])[]): Finding {
  const medians = seen.map((one) => ({
    revokes: [0.5, 0.99].map((share) => median(one.map(({ revokes }) => quantile([...revokes], share)))),
    lookUps: [0.5, 0.99].map((share) => median(one.map(({ lookUps }) => quantile([...lookUps], share)))),
  }));
  const [alone] = medians;
  return {
    header: [
      'the other tenant',
      'revokes, p50',
      'p99',
      'cold look-ups, p50',
      'p99',
      'failed',
      'CPU',
      'it got',
    ],
    rows: medians.map(({ revokes, lookUps }, i) => [
      noises[i]?.name ?? 'is quiet',
      ...[...revokes, ...lookUps].map(ms),
      String(seen[i]?.flatMap(({ failed }) => failed).length),
      `${median((seen[i] ?? []).map(({ cpuPercent }) => cpuPercent)).toFixed(0)} %`,
      JSON.stringify(seen[i]?.at(-1)?.statuses),
    ]),
    promises: medians.slice(1).flatMap(({ revokes, lookUps }, i) =>
      (
        [
          ['revokes', revokes, alone?.revokes],
          ['cold look-ups', lookUps, alone?.lookUps],
        ] as const
      ).map(([what, [, p99 = NaN], [, before = NaN] = []]) => ({
        what: `${noises[i + 1]?.name}: p99 of ${what} within three times what it is alone`,
        seen: `${ms(before)} alone, ${ms(p99)}`,
        kept: p99 <= 3 * before,
      })),
    ),
  };
}

function p99(times: readonly number[]): string {
  return ms(quantile([...times], 0.99));
}

function median(numbers: number[]): number {
  return quantile(numbers, 0.5);
}
