import { setTimeout as sleep } from 'node:timers/promises';
import { makeKeys } from './keys.ts';
import { us, type Finding } from './figures.ts';
import type { OpenLoop } from '../load/paced.ts';
import type { Options } from './options.ts';
import type { Gateway, OutageEnvironment } from './environment.ts';
import { watch } from './watch.ts';

const knownKeys = 5_000;
const missesPerSecond = 100;
/** When in a phase something happens to Redis. */
const faultAfterMs = 1_000;

interface Phase {
  readonly name: string;
  readonly gateway: Gateway;
  /** What happens to Redis in the midst of it. */
  readonly fault?: () => Promise<void>;
}

/** What one phase showed: callers whose keys are in memory, and keys that were never seen before. */
interface Seen {
  readonly name: string;
  readonly known: OpenLoop;
  readonly misses: OpenLoop;
}

/** Redis stopped and killed, under callers that are known and callers that are not, beside a gateway without it. */
export async function redisOutage(
  environment: OutageEnvironment,
  { rate, seconds }: Options,
): Promise<Finding> {
  const [perSecond, phaseSeconds] = [rate || 1_000, seconds || 4];
  const [without, first, second] = [
    await environment.gateway('replica without Redis', 'without Redis'),
    await environment.gateway('replica 1', 'with Redis'),
    await environment.gateway('replica 2', 'with Redis'),
  ];
  const { redis } = environment;
  const phases: readonly Phase[] = [
    { name: 'Redis not configured', gateway: without },
    { name: 'Redis there', gateway: first },
    { name: 'SIGSTOP in the midst', gateway: first, fault: () => redis.pause() },
    { name: 'stopped', gateway: first },
    { name: 'SIGCONT in the midst', gateway: first, fault: () => redis.resume() },
    { name: 'SIGKILL in the midst', gateway: first, fault: () => redis.kill() },
    { name: 'gone', gateway: first },
    { name: 'started in the midst', gateway: first, fault: () => redis.start() },
  ];
  const missesPerPhase = missesPerSecond * phaseSeconds;
  environment.say(`${knownKeys} known keys at ${perSecond}/s, new ones at ${missesPerSecond}/s`);
  const ring = await makeKeys(environment, first, knownKeys + missesPerPhase * phases.length);
  const texts = ring.keys.map(({ text }) => text);
  const [known, fresh] = [texts.slice(0, knownKeys), texts.slice(knownKeys)];
  for (const gateway of [without, first])
    await environment.load(gateway, known, { rate: knownKeys / 4, seconds: 4 });

  const watched = watch([without, first, second]);
  const seen: Seen[] = [];
  for (const { name, gateway, fault } of phases) {
    environment.say(name);
    const [knownSeen, missesSeen] = await Promise.all([
      environment.load(gateway, known, { rate: perSecond, seconds: phaseSeconds }),
      environment.load(gateway, fresh.splice(0, missesPerPhase), {
        rate: missesPerSecond,
        seconds: phaseSeconds,
      }),
      fault && sleep(faultAfterMs).then(fault),
    ]);
    seen.push({ name, known: knownSeen, misses: missesSeen });
  }
  return { ...tabled(seen), promises: [...promises(seen), ...(await watched.end())] };
}

function tabled(seen: readonly Seen[]): Pick<Finding, 'header' | 'rows'> {
  return {
    header: ['phase', 'known, p50', 'p99', 'failed', 'new, p50', 'p99', 'slowest', 'failed'],
    rows: seen.map(({ name, known, misses }) => [
      name,
      us(known.p50),
      us(known.p99),
      String(known.errors),
      us(misses.p50),
      us(misses.p99),
      us(misses.max),
      String(misses.errors),
    ]),
  };
}

function promises(seen: readonly Seen[]): Finding['promises'] {
  const failed = seen.reduce((sum, { known, misses }) => sum + known.errors + misses.errors, 0);
  const missOf = (phase: string): number => seen.find(({ name }) => name === phase)?.misses.p50 ?? NaN;
  const [plain, stopped, gone] = ['Redis not configured', 'stopped', 'gone'].map(missOf) as [
    number,
    number,
    number,
  ];
  return [
    { what: 'no request fails', seen: `${failed} failed`, kept: failed === 0 },
    {
      what: 'a new key costs what it costs without Redis (p50)',
      seen: `${us(plain)} without, ${us(stopped)} stopped, ${us(gone)} gone`,
      kept: Math.max(stopped, gone) < 1.5 * plain + 1_000,
    },
  ];
}
