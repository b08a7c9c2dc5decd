/** Processor time that limits cost a request, without stores that are elsewhere. */
import { embeddedBuckets } from '../../src/adapters/embedded/buckets.ts';
import { noLimits } from '../../src/domain/limits/limits.ts';
import { SharedRateLimiter } from '../../src/limits/rate/limiter.ts';
import { systemClock } from '../../src/ports/clock.ts';
import type { Full, LimitedBy, Taken } from '../../src/ports/limits/rate-limiter.ts';
import { systemTimers } from '../../src/ports/timers.ts';
import { rateLimitHeaders, withRateLimit } from '../../src/proxy/headers/rate-limit.ts';
import { ModelQuotas } from '../../test/support/limits/model-stores.ts';

/** Requests in a turn of the event loop, as with 64 connections. */
const perTurn = 64;
/** Headers of a usual response of an upstream. */
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

/** Nanoseconds of processor time a request, the median of rounds. */
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
  const quotas = new ModelQuotas(() => Date.now());
  return new SharedRateLimiter({
    buckets: embeddedBuckets(systemClock),
    quotas: { ask: async (questions) => quotas.answer('a', questions) },
    clock: systemClock,
    timers: systemTimers,
    replicas: () => 3,
  });
}

console.log(`nanoseconds of processor time a request, ${perTurn} in a turn of the event loop\n`);
console.log('limits of a request\t1 tenant\t10,000 tenants in turns\trejected\t1 tenant, with its headers');
const nothing = await timed(640_000, () => undefined);
for (const [name, kinds, month] of [
  ['one, by the second', ['sub_account'], null],
  ['three, by the second', ['api_key', 'sub_account', 'parent'], null],
  ['three, two of them by the month, too', ['api_key', 'sub_account', 'parent'], 1_000_000_000],
] as const) {
  const of = (tenants: number, requestsPerSecond: number): LimitedBy[][] =>
    Array.from({ length: tenants }, (_, i) =>
      kinds.map((kind) => ({
        ...{ kind, id: `0198c9a4-0000-7000-8000-${String(i).padStart(12, '0')}`, shown: true },
        limits: { ...noLimits, requestsPerSecond, requestsPerMonth: kind === 'api_key' ? null : month },
      })),
    );
  const cost = async (by: LimitedBy[][], withHeaders = false): Promise<string> => {
    const taker = limiter();
    const respond = ({ scarcest }: Taken | Full): void => {
      if (withHeaders && scarcest !== null)
        kept += withRateLimit(upstreamHeaders, rateLimitHeaders(scarcest)).length;
    };
    const spent = await timed(640_000, (i) => {
      const result = taker.take(by[i % by.length] ?? [], respond);
      if (result !== null) respond(result);
    });
    await taker.stop();
    return (spent - nothing).toFixed(0);
  };
  const columns = [of(1, 1e9), of(10_000, 1e9), of(1, 1)];
  const costs: string[] = [name];
  for (const by of columns) costs.push(await cost(by));
  costs.push(await cost(of(1, 1e9), true));
  console.log(costs.join('\t'));
}
process.exit(kept < 0 ? 1 : 0);
