import postgres from 'postgres';
import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../lib/proc.ts';
import type { OpenLoop } from '../load/paced.ts';
import { us, type Finding } from './figures.ts';
import { makeKeys, mistypedKeys, unknownKeys } from './keys.ts';
import type { Options } from './options.ts';
import type { Gateway, Stand } from './stand.ts';

const knownKeys = 2_000;
const knownPerSecond = 500;
const capacitySeconds = 3;
const sampleEveryMs = 250;
/** For the gateway to be connected again. */
const reconnectMs = 1_500;

/** What is sent beside the known callers. */
interface Phase {
  readonly name: string;
  readonly seconds: number;
  readonly mistyped: number;
  readonly unknown: number;
}

interface Seen {
  readonly phase: Phase;
  readonly known: OpenLoop;
  readonly others: readonly OpenLoop[];
  readonly rssMb: number;
  readonly cpuPercent: number;
  /** Searches in PostgreSQL for a key by its digest. */
  readonly lookUps: number;
}

/** Keys that nobody has, at a third of what the gateway can do, beside callers that it knows. */
export async function garbage(stand: Stand, options: Options): Promise<Finding> {
  const gateway = await stand.gateway('replica', 'without Redis');
  const known = (await makeKeys(stand, gateway, knownKeys)).keys.map(({ text }) => text);
  await stand.load(gateway, known, { rate: knownKeys, seconds: 2 });
  const rate = options.rate || Math.floor((await capacity(stand, gateway, known)) / 3);
  const seconds = options.seconds || 16;
  const longest = options.garbage > 0 ? options.garbage / rate : 2 * seconds;
  const phases: readonly Phase[] = [
    { name: 'known callers alone', seconds, mistyped: 0, unknown: 0 },
    { name: '+ bad checksums', seconds, mistyped: rate, unknown: 0 },
    { name: '+ good checksums', seconds, mistyped: 0, unknown: rate },
    { name: '+ half of each', seconds: longest, mistyped: rate / 2, unknown: rate / 2 },
    { name: 'known callers alone again', seconds, mistyped: 0, unknown: 0 },
  ];
  stand.say(`known callers at ${knownPerSecond}/s, made-up keys at ${rate}/s`);
  const seen: Seen[] = [];
  for (const phase of phases) {
    stand.say(`${phase.name}, ${phase.seconds.toFixed(0)} s`);
    seen.push(await measure(stand, gateway, known, phase));
  }
  return { ...tabled(seen), promises: promises(seen) };
}

/** The highest rate at which known callers are answered without a queue that grows. */
async function capacity(stand: Stand, gateway: Gateway, known: readonly string[]): Promise<number> {
  for (let rate = 4_000; ; rate *= 1.25) {
    const { answered, due, p99 } = await stand.load(gateway, known, { rate, seconds: capacitySeconds });
    const keptUp = answered === due && p99 < 50_000;
    stand.say(`  ${rate.toFixed(0)}/s: ${keptUp ? 'keeps up' : `falls behind (p99 ${us(p99)})`}`);
    if (!keptUp) return rate / 1.25;
  }
}

async function measure(
  stand: Stand,
  gateway: Gateway,
  known: readonly string[],
  phase: Phase,
): Promise<Seen> {
  const { seconds, mistyped, unknown } = phase;
  const loads = [
    { rate: mistyped, keys: mistypedKeys(Math.ceil(mistyped * seconds)) },
    { rate: unknown, keys: unknownKeys(Math.ceil(unknown * seconds)) },
  ].filter(({ rate }) => rate > 0);
  const lookUpsBefore = await lookUps(stand);
  const before = usageOf([gateway.pid]);
  const began = performance.now();
  let [done, rssBytes] = [false, 0];
  const sampling = (async () => {
    while (!done) {
      rssBytes = Math.max(rssBytes, usageOf([gateway.pid]).rssBytes);
      await sleep(sampleEveryMs);
    }
  })();
  const [knownSeen, ...others] = await Promise.all([
    stand.load(gateway, known, { rate: knownPerSecond, seconds }),
    ...loads.map(({ rate, keys }) =>
      stand.load(gateway, keys, { rate, seconds, connections: 400, evenly: true }),
    ),
  ]);
  const cpuMs = usageOf([gateway.pid]).cpuMs - before.cpuMs;
  const cpuPercent = (100 * cpuMs) / (performance.now() - began);
  done = true;
  await sampling;
  const searched = (await lookUps(stand)) - lookUpsBefore;
  return { phase, known: knownSeen, others, rssMb: rssBytes / 2 ** 20, cpuPercent, lookUps: searched };
}

/**
 * Searches for keys by digest so far, as PostgreSQL itself counts them. A session may keep what it counted to itself for
 * ten seconds, but not when it ends, so the gateway's are ended.
 */
async function lookUps({ postgres: { url } }: Stand): Promise<number> {
  const sql = postgres(url, { max: 1 });
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  await sleep(reconnectMs);
  const [row] = await sql<[{ scans: string }]>`
    select idx_scan as scans from pg_stat_user_indexes where indexrelname = 'api_key_digest_key'`;
  await sql.end();
  return Number(row.scans);
}

function tabled(seen: readonly Seen[]): Pick<Finding, 'header' | 'rows'> {
  return {
    header: [
      'phase',
      'known, p50',
      'p99',
      "generator's lag p99",
      'failed',
      'made up',
      '401',
      '503',
      'others',
      'look-ups',
      'RSS',
      'CPU',
    ],
    rows: seen.map(({ phase, known, others, rssMb, cpuPercent, lookUps }) => [
      phase.name,
      us(known.p50),
      us(known.p99),
      us(known.ownLagP99),
      String(known.errors),
      String(made(others)),
      String(answeredWith('401', others)),
      String(answeredWith('503', others)),
      String(made(others) - answeredWith('401', others) - answeredWith('503', others)),
      String(lookUps),
      `${rssMb.toFixed(0)} MiB`,
      `${cpuPercent.toFixed(0)} %`,
    ]),
  };
}

function made(loads: readonly OpenLoop[]): number {
  return loads.reduce((sum, { due }) => sum + due, 0);
}

function answeredWith(status: string, loads: readonly OpenLoop[]): number {
  return loads.reduce((sum, { statuses }) => sum + (statuses[status] ?? 0), 0);
}

function promises(seen: readonly Seen[]): Finding['promises'] {
  const [alone, mistyped, unknown, both, after] = seen as [Seen, Seen, Seen, Seen, Seen];
  const failed = seen.reduce((sum, { known }) => sum + known.errors, 0);
  const passed = seen.reduce((sum, { others }) => sum + answeredWith('200', others), 0);
  return [
    {
      what: "known callers' p99 within twice what it is alone",
      seen: `${us(alone.known.p99)} alone, ${us(both.known.p99)}`,
      kept: both.known.p99 <= 2 * alone.known.p99,
    },
    { what: 'no known caller fails', seen: `${failed} failed`, kept: failed === 0 },
    { what: 'no made-up key passes', seen: `${passed} passed`, kept: passed === 0 },
    { what: 'a bad checksum costs no look-up', seen: String(mistyped.lookUps), kept: mistyped.lookUps === 0 },
    {
      what: 'an unknown key costs at most one',
      seen: `${unknown.lookUps} for ${made(unknown.others)}`,
      kept: unknown.lookUps <= made(unknown.others),
    },
    {
      what: 'memory is bounded',
      seen: `${[alone, both, after].map(({ rssMb }) => rssMb.toFixed(0)).join(', ')} MiB before, during, after`,
      kept: after.rssMb < alone.rssMb + 200,
    },
  ];
}
