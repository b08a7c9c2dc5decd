/**
 * Compares ways of keeping a limit over replicas, in virtual time, and measures what taking from limits costs a request.
 *
 *     npm run bench:limits
 */
import { SharedRateLimiter } from '../../src/limits/rate/limiter.ts';
import { systemClock } from '../../src/ports/clock.ts';
import type { LimitedBy } from '../../src/ports/limits/rate-limiter.ts';
import { rateLimitHeaders, withRateLimit } from '../../src/proxy/headers/rate-limit.ts';
import { systemTimers } from '../../src/ports/timers.ts';
import { Random } from '../../test/support/coherence/random.ts';
import { VirtualTime } from '../../test/support/limits/virtual-time.ts';
import { Counts } from '../../test/support/limits/windows.ts';
import { World } from '../../test/support/limits/world.ts';
import { gcra, leasedPortions, slidingWindow, type Limit, type Model } from './models.ts';

const limit: Limit = { rate: 1_000, burst: 1_000 };
const replicas = 3;
const wholeMs = 60_000;
const stepMs = 5;

interface Scenario {
  readonly name: string;
  readonly demand: (nowMs: number) => readonly number[];
  /** Those that are cut off from the store from 20 s to 40 s. */
  readonly cut: readonly number[];
}

const moves = (nowMs: number): readonly number[] =>
  Math.floor(nowMs / 7_500) % 2 === 0 ? [0.9, 0.05, 0.05] : [0.05, 0.9, 0.05];
const times = (factor: number, parts: (nowMs: number) => readonly number[]) => (nowMs: number) =>
  parts(nowMs).map((part) => part * factor * limit.rate);
const scenarios: readonly Scenario[] = [
  { name: '90/5/5 and 5/90/5 in turns, as much as the limit', demand: times(1, moves), cut: [] },
  { name: '90/5/5 and 5/90/5 in turns, twice the limit', demand: times(2, moves), cut: [] },
  {
    name: 'the store away for 20 s, 90/5/5, twice the limit',
    demand: times(2, () => [0.9, 0.05, 0.05]),
    cut: [0, 1, 2],
  },
  { name: 'one cut off for 20 s, each twice the limit', demand: times(2, () => [1, 1, 1]), cut: [0] },
];

interface Result {
  readonly admitted: Counts;
  readonly messages: number;
  /** Of the 20 s in which some were cut off. */
  readonly whileCut: number;
}

async function runModel(make: (time: VirtualTime) => Model, { demand, cut }: Scenario): Promise<Result> {
  const time = new VirtualTime();
  const random = new Random(1);
  const model = make(time);
  time.after(20_000, () => model.cut(cut));
  time.after(40_000, () => model.cut([]));
  const admitted = new Counts(stepMs);
  while (time.nowMs < wholeMs) {
    await time.until(time.nowMs + stepMs);
    let count = 0;
    demand(time.nowMs).forEach((wanted, i) => {
      for (let n = arrivals(random, wanted); n > 0; n--) if (model.sides[i]?.take() === true) count += 1;
    });
    admitted.add(count);
  }
  return { admitted, messages: model.messages, whileCut: admitted.between(20_000, 40_000) };
}

async function runOurs({ demand, cut }: Scenario): Promise<Result> {
  const random = new Random(1);
  const limits = { requestsPerSecond: limit.rate, burst: limit.burst };
  const world = new World({ random: () => random.next(), limits, rates: [1, 1, 1] });
  world.time.after(20_000, () => cut.forEach((i) => ((world.replicas[i] as { cut: boolean }).cut = true)));
  world.time.after(40_000, () => world.replicas.forEach((replica) => (replica.cut = false)));
  await world.run(wholeMs, demand);
  const { admitted, board } = world;
  return { admitted, messages: board.exchanges, whileCut: admitted.between(20_000, 40_000) };
}

function arrivals(random: Random, perSecond: number): number {
  const end = Math.exp((-perSecond * stepMs) / 1000);
  let n = 0;
  for (let p = random.next(); p > end; p *= random.next()) n += 1;
  return n;
}

function row(name: string, { admitted, messages, whileCut }: Result): string {
  const { rate, burst } = limit;
  let most = -Infinity;
  let least = Infinity;
  for (let from = 0; from + 10_000 <= wholeMs; from += 100) {
    const count = admitted.between(from, from + 10_000);
    most = Math.max(most, count / (rate * 10 + burst));
    least = Math.min(least, count / (rate * 10));
  }
  const perSecond = messages / replicas / (wholeMs / 1000);
  return [
    name,
    most.toFixed(3),
    least.toFixed(3),
    (whileCut / 20 / rate).toFixed(3),
    perSecond.toFixed(1),
  ].join('\t');
}

console.log(
  `${replicas} replicas, ${limit.rate} a second, burst ${limit.burst}, ${wholeMs / 1000} s, windows of 10 s.\n`,
);
for (const scenario of scenarios) {
  console.log(`${scenario.name}\n`);
  console.log(
    'algorithm\tmost / (rate x w + burst)\tleast / (rate x w)\tmean from 20 s to 40 s / rate\tmessages a second and replica',
  );
  for (const make of [gcra, leasedPortions, slidingWindow])
    console.log(
      row(
        make(new VirtualTime(), limit, replicas).name,
        await runModel((time) => make(time, limit, replicas), scenario),
      ),
    );
  console.log(`${row('token bucket, shares by demand (built)', await runOurs(scenario))}\n`);
}

/** Nanoseconds of processor time a request, the median of rounds. As with 64 connections: so many requests in a turn of the event loop. */
async function timed(requests: number, request: (i: number) => void): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 11; round++) {
    const before = process.cpuUsage();
    for (let done = 0; done < requests; done += perTurn) {
      for (let i = 0; i < perTurn; i++) request(done + i);
      await new Promise(setImmediate);
    }
    const { user, system } = process.cpuUsage(before);
    rounds.push(((user + system) * 1000) / requests);
  }
  return rounds.slice(1).sort((a, b) => a - b)[5] ?? NaN;
}

function limiter(): SharedRateLimiter {
  return new SharedRateLimiter({
    board: { exchange: async () => ({ nowMs: systemClock.monotonicMs(), peers: [] }) },
    totals: { add: async () => ({ nowMs: Date.now(), totals: [], next: null }) },
    clock: systemClock,
    timers: systemTimers,
    replicas: () => new Set(['a', 'b', 'c']),
    replicaId: () => 'a',
    randomId: () => 'a',
  });
}

const perTurn = 64;
/** What an upstream says of itself, usually. */
const upstreamHeaders = [
  'content-type',
  'application/json',
  'content-length',
  '2',
  'date',
  'now',
  'etag',
  '"a"',
];
let kept = 0;

console.log(`nanoseconds of processor time a request, ${perTurn} in a turn of the event loop\n`);
console.log('limits of a request\t1 tenant\t10,000 tenants in turns\trejected\t1 tenant, with its headers');
const nothing = await timed(640_000, () => undefined);
for (const [name, kinds, month] of [
  ['one, by the second', ['sub_account'], null],
  ['three, by the second', ['api_key', 'sub_account', 'parent'], null],
  ['three, two of them by the month, too', ['api_key', 'sub_account', 'parent'], 1_000_000_000],
] as const) {
  const of = (tenants: number, rate: number): LimitedBy[][] =>
    Array.from({ length: tenants }, (_, i) =>
      kinds.map((kind) => ({
        ...{ kind, id: `0198c9a4-0000-7000-8000-${String(i).padStart(12, '0')}`, shown: true },
        limits: { requestsPerSecond: rate, burst: null, requestsPerMonth: kind === 'api_key' ? null : month },
      })),
    );
  const cost = async (by: LimitedBy[][], withHeaders = false): Promise<string> => {
    const taker = limiter();
    const spent = await timed(640_000, (i) => {
      const { scarcest } = taker.take(by[i % by.length] ?? []);
      if (withHeaders && scarcest !== null)
        kept += withRateLimit(upstreamHeaders, rateLimitHeaders(scarcest)).length;
    });
    await taker.stop();
    return (spent - nothing).toFixed(0);
  };
  console.log(
    [
      name,
      await cost(of(1, 1e9)),
      await cost(of(10_000, 1e9)),
      await cost(of(1, 1)),
      await cost(of(1, 1e9), true),
    ].join('\t'),
  );
}
process.exit(kept < 0 ? 1 : 0);
