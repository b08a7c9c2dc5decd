import postgres from 'postgres';
import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../lib/proc.ts';
import type { OpenLoop } from '../load/paced.ts';
import { quantile, us, type Finding } from './figures.ts';
import { makeKeys, mistypedKeys, unknownKeys } from './keys.ts';
import type { Options } from './options.ts';
import type { Gateway, OutageEnvironment } from './environment.ts';

const knownKeys = 2_000;
const knownPerSecond = 500;
const capacitySeconds = 3;
const sampleEveryMs = 250;
/** For the gateway to be connected again. */
const reconnectMs = 1_500;

/** What is sent beside the known callers, a second. */
interface Phase {
  readonly name: string;
  readonly mistyped: number;
  readonly unknown: number;
}

interface Seen {
  readonly phase: Phase;
  /** Times in microseconds. */
  readonly known: Pick<OpenLoop, 'p50' | 'p99' | 'ownLagP99' | 'errors'>;
  readonly made: number;
  readonly statuses: OpenLoop['statuses'];
  readonly rssMb: number;
  readonly cpuPercent: number;
  /** Searches in PostgreSQL for a key by its digest. */
  readonly lookUps: number;
}

/**
 * Keys that do not exist, at a third of what the gateway can do, beside callers that it knows. In rounds, since the machine
 * has better and worse times of its own.
 */
export async function garbage(environment: OutageEnvironment, options: Options): Promise<Finding> {
  const gateway = await environment.gateway('replica', 'without Redis');
  const known = (await makeKeys(environment, gateway, knownKeys)).keys.map(({ text }) => text);
  await environment.load(gateway, known, { rate: knownKeys, seconds: 2 });
  const rate = options.rate || Math.floor((await capacity(environment, gateway, known)) / 3);
  const seconds = options.seconds || 8;
  const phases: readonly Phase[] = [
    { name: 'known callers alone', mistyped: 0, unknown: 0 },
    { name: '+ bad checksums', mistyped: rate, unknown: 0 },
    { name: '+ good checksums', mistyped: 0, unknown: rate },
    { name: '+ half of each', mistyped: rate / 2, unknown: rate / 2 },
  ];
  const rounds = Math.max(2, Math.ceil(options.garbage / ((phases.length - 1) * rate * seconds)));
  environment.say(`known callers at ${knownPerSecond}/s, made-up keys at ${rate}/s, phases of ${seconds} s`);
  const seen: Seen[] = [];
  for (let round = 1; round <= rounds; round++) {
    environment.say(`round ${round} of ${rounds}`);
    for (const phase of phases) {
      const one = await measure(environment, gateway, known, phase, seconds);
      environment.say(`  ${phase.name}: p99 ${us(one.known.p99)}`);
      seen.push(one);
    }
  }
  const together = phases.map((phase) => summed(seen.filter((one) => one.phase === phase)));
  return { ...tabled(together), promises: promises(together, seen) };
}

/** The highest rate at which known callers get responses without a queue that grows. */
async function capacity(
  environment: OutageEnvironment,
  gateway: Gateway,
  known: readonly string[],
): Promise<number> {
  for (let rate = 4_000; ; rate *= 1.25) {
    const { responses, due, p99 } = await environment.load(gateway, known, {
      rate,
      seconds: capacitySeconds,
    });
    const keptUp = responses === due && p99 < 50_000;
    environment.say(`  ${rate.toFixed(0)}/s: ${keptUp ? 'keeps up' : `falls behind (p99 ${us(p99)})`}`);
    if (!keptUp) return rate / 1.25;
  }
}

async function measure(
  environment: OutageEnvironment,
  gateway: Gateway,
  known: readonly string[],
  phase: Phase,
  seconds: number,
): Promise<Seen> {
  const { mistyped, unknown } = phase;
  const loads = [
    { rate: mistyped, keys: mistypedKeys(Math.ceil(mistyped * seconds)) },
    { rate: unknown, keys: unknownKeys(Math.ceil(unknown * seconds)) },
  ].filter(({ rate }) => rate > 0);
  const lookUpsBefore = await lookUps(environment);
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
    environment.load(gateway, known, { rate: knownPerSecond, seconds }),
    ...loads.map(({ rate, keys }) =>
      environment.load(gateway, keys, { rate, seconds, connections: 400, evenly: true }),
    ),
  ]);
  const cpuMs = usageOf([gateway.pid]).cpuMs - before.cpuMs;
  const cpuPercent = (100 * cpuMs) / (performance.now() - began);
  done = true;
  await sampling;
  const searched = (await lookUps(environment)) - lookUpsBefore;
  return {
    phase,
    known: knownSeen,
    made: sum(others.map(({ due }) => due)),
    statuses: summedStatuses(others.map(({ statuses }) => statuses)),
    rssMb: rssBytes / 2 ** 20,
    cpuPercent,
    lookUps: searched,
  };
}

/** The rounds of one phase: medians of what was timed, sums of what was counted, and the most memory. */
function summed(rounds: readonly Seen[]): Seen {
  const [first] = rounds as readonly [Seen, ...Seen[]];
  const of = (figure: (one: Seen) => number): number[] => rounds.map(figure);
  return {
    phase: first.phase,
    known: {
      p50: median(of(({ known }) => known.p50)),
      p99: median(of(({ known }) => known.p99)),
      ownLagP99: median(of(({ known }) => known.ownLagP99)),
      errors: sum(of(({ known }) => known.errors)),
    },
    made: sum(of(({ made }) => made)),
    statuses: summedStatuses(rounds.map(({ statuses }) => statuses)),
    rssMb: Math.max(...of(({ rssMb }) => rssMb)),
    cpuPercent: median(of(({ cpuPercent }) => cpuPercent)),
    lookUps: sum(of(({ lookUps }) => lookUps)),
  };
}

function summedStatuses(all: readonly OpenLoop['statuses'][]): OpenLoop['statuses'] {
  const names = new Set(all.flatMap((statuses) => Object.keys(statuses)));
  return Object.fromEntries([...names].map((name) => [name, sum(all.map((one) => one[name] ?? 0))]));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function median(numbers: readonly number[]): number {
  return quantile([...numbers], 0.5);
}

/**
 * Searches for keys by digest so far, as PostgreSQL itself counts them. A session may keep what it counted to itself for
 * ten seconds, but not when it ends, so the gateway's are ended.
 */
async function lookUps({ postgres: { url } }: OutageEnvironment): Promise<number> {
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
    rows: seen.map(({ phase, known, made, statuses, rssMb, cpuPercent, lookUps }) => {
      const { '401': rejected = 0, '503': overloaded = 0 } = statuses;
      return [
        phase.name,
        us(known.p50),
        us(known.p99),
        us(known.ownLagP99),
        String(known.errors),
        ...[made, rejected, overloaded, made - rejected - overloaded, lookUps].map(String),
        `${rssMb.toFixed(0)} MiB`,
        `${cpuPercent.toFixed(0)} %`,
      ];
    }),
  };
}

function promises(seen: readonly Seen[], each: readonly Seen[]): Finding['promises'] {
  const [alone, mistyped, unknown, both] = seen as [Seen, Seen, Seen, Seen];
  const failed = sum(seen.map(({ known }) => known.errors));
  const passed = sum(seen.map(({ statuses }) => statuses['200'] ?? 0));
  const floods = [mistyped, unknown, both].map(({ known }) => known.p99);
  const rss = each.map(({ rssMb }) => rssMb);
  return [
    {
      what: "known callers' p99 within twice what it is alone",
      seen: `${us(alone.known.p99)} alone, ${floods.map(us).join(', ')}`,
      kept: Math.max(...floods) <= 2 * alone.known.p99,
    },
    { what: 'no known caller fails', seen: `${failed} failed`, kept: failed === 0 },
    { what: 'no made-up key passes', seen: `${passed} passed`, kept: passed === 0 },
    { what: 'a bad checksum costs no look-up', seen: String(mistyped.lookUps), kept: mistyped.lookUps === 0 },
    {
      what: 'an unknown key costs at most one',
      seen: `${unknown.lookUps} for ${unknown.made}`,
      kept: unknown.lookUps <= unknown.made,
    },
    {
      what: 'memory is bounded',
      seen: `${rss[0]?.toFixed(0)} MiB first, ${Math.max(...rss).toFixed(0)} at most, ${rss.at(-1)?.toFixed(0)} last`,
      kept: Math.max(...rss) < (rss[0] ?? 0) + 200,
    },
  ];
}
