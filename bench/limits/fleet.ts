/**
 * Many replicas that use many limits over one Redis: what that costs Redis, and how long requests wait for an answer.
 *
 * FLEET_REPLICAS (50), FLEET_LIMITS (100,000), FLEET_RATE (requests a second in all, 10,000) and FLEET_SECONDS (20).
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Redis } from 'ioredis';
import { redisBuckets } from '../../src/adapters/redis/buckets.ts';
import { parseRedisAddress } from '../../src/config/redis/redis-address.ts';
import { noLimits } from '../../src/domain/limits/limits.ts';
import { SharedRateLimiter } from '../../src/limits/rate/limiter.ts';
import { systemClock } from '../../src/ports/clock.ts';
import type { Full, LimitedBy, Taken } from '../../src/ports/limits/rate-limiter.ts';
import { systemTimers } from '../../src/ports/timers.ts';
import { startRedis } from '../../test/support/redis.ts';

const setting = (name: string, usual: number): number => Number(process.env[name] ?? usual);
const replicas = setting('FLEET_REPLICAS', 50);
const limits = setting('FLEET_LIMITS', 100_000);
const rate = setting('FLEET_RATE', 10_000);
const seconds = setting('FLEET_SECONDS', 20);
/** Milliseconds after which an answer is late. */
const lateMs = 25;

const teardowns: (() => unknown)[] = [];
const server = await startRedis({ teardown: (task) => void teardowns.push(task) });
const address = parseRedisAddress(server.url);
if (address === undefined) throw new Error(server.url);
let away = 0;
const fleet = Array.from({ length: replicas }, () => {
  const buckets = redisBuckets({ address, history: () => 'bench' });
  teardowns.push(() => buckets.close());
  return new SharedRateLimiter({
    ...{ buckets, quotas: { ask: async () => [] }, clock: systemClock, timers: systemTimers },
    replicas: () => replicas,
    events: { onDegraded: (degraded) => (away += degraded ? 1 : 0) },
  });
});
const of = Array.from({ length: limits }, (_, i): readonly LimitedBy[] => [
  {
    ...{ kind: 'sub_account', id: `0198c9a4-0000-7000-8000-${String(i).padStart(12, '0')}`, shown: true },
    limits: { ...noLimits, requestsPerSecond: 100 },
  },
]);

const waits: number[] = [];
let refused = 0;
function send(): void {
  const began = performance.now();
  const end = ({ full }: Taken | Full): void => {
    waits.push(performance.now() - began);
    if (full) refused += 1;
  };
  const limiter = fleet[Math.floor(Math.random() * replicas)];
  const result = limiter?.take(of[Math.floor(Math.random() * limits)] ?? [], end);
  if (result != null) end(result);
}

const redis = new Redis(server.url);
const cpuSeconds = async (): Promise<number> => {
  const info = await redis.info('cpu');
  return ['used_cpu_sys', 'used_cpu_user'].reduce(
    (sum, name) => sum + Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]),
    0,
  );
};
const bytes = async (): Promise<number> =>
  Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);

/** Sends for a while, evenly. */
async function load(forS: number): Promise<void> {
  const began = performance.now();
  for (let sent = 0; ;) {
    const due = ((performance.now() - began) / 1000) * rate;
    for (; sent < due; sent++) send();
    if (sent >= forS * rate) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

await new Promise((resolve) => setTimeout(resolve, 1_000));
const empty = await bytes();
await load(3);
waits.length = 0;
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const before = await cpuSeconds();
const began = performance.now();
await load(seconds);
const tookS = (performance.now() - began) / 1000;
const cpu = (await cpuSeconds()) - before;
const keys = await redis.dbsize();
const perLimit = ((await bytes()) - empty) / keys;
waits.sort((a, b) => a - b);
const at = (part: number): string => (waits[Math.floor(part * waits.length)] ?? NaN).toFixed(2);
console.log(
  `${replicas} replicas in this process, ${limits} limits, ${(waits.length / tookS).toFixed(0)} requests a second`,
);
console.log(
  `Redis: ${((100 * cpu) / tookS).toFixed(1)} % of a core, ${keys} buckets, ${perLimit.toFixed(0)} bytes each`,
);
console.log(
  `waits: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, p99.9 ${at(0.999)} ms, longest ${at(0.999_999)} ms`,
);
console.log(`late: ${waits.filter((ms) => ms >= lateMs).length}, refused: ${refused}, away: ${away}`);
console.log(
  `this process, which is all replicas: event loop late by ${(delay.percentile(99) / 1e6).toFixed(1)} ms (p99), ${(delay.max / 1e6).toFixed(1)} ms at most`,
);
for (const limiter of fleet) await limiter.stop();
redis.disconnect();
for (const task of teardowns.reverse()) await task();
process.exit(0);
