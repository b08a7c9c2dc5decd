import { setTimeout as sleep } from 'node:timers/promises';
import { makeKeys, type KeyRing } from './keys.ts';
import { ms, quantile, type Finding } from './figures.ts';
import type { Options } from './options.ts';
import { leaseMs, type Gateway, type OutageEnvironment } from './environment.ts';

const replicas = 3;
const lightRevokes = 200;
const lightPauseMs = 50;
const hangingRevokes = 20;

/** One at a time, then many, then with one replica that hangs. */
export async function revokes(environment: OutageEnvironment, { rate, seconds }: Options): Promise<Finding> {
  const [perSecond, sustainedSeconds] = [rate || 100, seconds || 30];
  const gateways: Gateway[] = [];
  for (let i = 1; i <= replicas; i++) gateways.push(await environment.gateway(`replica ${i}`, 'with Redis'));
  const [hanging, ...others] = gateways as [Gateway, ...Gateway[]];
  const ring = await makeKeys(
    environment,
    hanging,
    50 + 2 * lightRevokes + hangingRevokes + perSecond * sustainedSeconds,
  );
  const sender = new Revoker(ring);

  // The first statements on a connection are planned, and the code that runs is compiled.
  for (let i = 0; i < 50; i++) await sender.revoke(gateways[i % replicas]);
  environment.say(`${lightRevokes} revokes, one at a time with a pause of ${lightPauseMs} ms`);
  const fresh = await oneByOne(sender, gateways, lightRevokes, lightPauseMs);

  environment.say(`${perSecond} revokes a second for ${sustainedSeconds} s`);
  const { took, outstanding } = await sustained(sender, gateways, perSecond, sustainedSeconds, environment);

  environment.say(`${lightRevokes} more, one at a time`);
  const light = await oneByOne(sender, gateways, lightRevokes, lightPauseMs);

  environment.say('one replica is stopped (SIGSTOP)');
  process.kill(hanging.pid, 'SIGSTOP');
  const [first = NaN, ...later] = await oneByOne(sender, others, hangingRevokes, 0);
  process.kill(hanging.pid, 'SIGCONT');
  const served = await stillServed(hanging, sender.revoked.slice(-hangingRevokes));

  const half = outstanding.length >> 1;
  const [early, late] = [mean(outstanding.slice(0, half)), mean(outstanding.slice(half))];
  const row = (name: string, times: number[]): string[] => [
    name,
    String(times.length),
    ...[0.5, 0.99, 1].map((share) => ms(quantile(times, share))),
  ];
  return {
    header: ['revokes', 'number', 'p50', 'p99', 'slowest'],
    rows: [
      row('one at a time, gateways just started', fresh),
      row(`${perSecond} a second`, took),
      row('one at a time, after that', light),
      row('one replica stopped, the first', [first]),
      row('one replica stopped, after that', later),
    ],
    promises: [
      limit('one at a time, p50 ≤ 10 ms', quantile(light, 0.5), 10),
      limit('one at a time, p99 ≤ 50 ms', quantile(light, 0.99), 50),
      {
        what: `${perSecond} a second: as many under way in the second half as in the first`,
        seen: `${early.toFixed(1)}, ${late.toFixed(1)}`,
        kept: late < 2 * early + 2,
      },
      {
        what: 'every revoke gets 2xx',
        seen: `${sender.errors.length} others ${sender.errors[0] ?? ''}`,
        kept: sender.errors.length === 0,
      },
      limit('one replica stopped: at most T + 0.5 s', first, leaseMs + 500),
      {
        what: 'the stopped replica, awake again, lets no revoked key in',
        seen: `${served}`,
        kept: served === 0,
      },
    ],
  };
}

/** Revokes one key after another. */
class Revoker {
  readonly revoked: string[] = [];
  readonly errors: string[] = [];
  readonly #ring: KeyRing;
  #next = 0;

  constructor(ring: KeyRing) {
    this.#ring = ring;
  }

  /** Returns the milliseconds it took since `dueMs`, or since now. */
  async revoke(gateway: Gateway | undefined, dueMs = performance.now()): Promise<number> {
    const { parent, sub, keys } = this.#ring;
    const key = keys[this.#next++];
    if (key === undefined || gateway === undefined) throw new Error('there is no key left to revoke');
    const path = `/v1/sub-accounts/${sub}/api-keys/${key.id}/revoke`;
    const response = await gateway.client.send('POST', path, { key: parent.key, limitMs: 10_000 });
    if (response?.status === 200) this.revoked.push(key.text);
    else this.errors.push(`${response?.status} ${JSON.stringify(response?.body)}`);
    return performance.now() - dueMs;
  }
}

/** Starts each when it is due, whatever became of those before, and says every second how it goes. */
async function sustained(
  sender: Revoker,
  gateways: readonly Gateway[],
  perSecond: number,
  seconds: number,
  environment: OutageEnvironment,
): Promise<{ readonly took: number[]; readonly outstanding: number[] }> {
  const [took, outstanding]: [number[], number[]] = [[], []];
  const underWay = new Set<Promise<unknown>>();
  const began = performance.now();
  let lately: number[] = [];
  for (let i = 0; i < perSecond * seconds; i++) {
    const dueMs = began + (i * 1_000) / perSecond;
    const aheadMs = dueMs - performance.now();
    if (aheadMs > 0) await sleep(aheadMs);
    const one: Promise<unknown> = sender.revoke(gateways[i % gateways.length], dueMs).then((each) => {
      took.push(each);
      lately.push(each);
      underWay.delete(one);
    });
    underWay.add(one);
    outstanding.push(underWay.size);
    if ((i + 1) % (5 * perSecond) === 0) {
      environment.say(
        `  p50 ${ms(quantile(lately, 0.5))}, p99 ${ms(quantile(lately, 0.99))}, ${underWay.size} under way`,
      );
      lately = [];
    }
  }
  await Promise.all(underWay);
  return { took, outstanding };
}

async function oneByOne(
  sender: Revoker,
  gateways: readonly Gateway[],
  count: number,
  pauseMs: number,
): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < count; i++) {
    took.push(await sender.revoke(gateways[i % gateways.length]));
    await sleep(pauseMs);
  }
  return took;
}

/** How many of these keys the gateway lets in. */
async function stillServed({ client }: Gateway, keys: readonly string[]): Promise<number> {
  const responses = await Promise.all(keys.map((key) => client.send('GET', '/shipments', { key })));
  return responses.filter((response) => response?.status === 200).length;
}

function limit(what: string, value: number, most: number): { what: string; seen: string; kept: boolean } {
  return { what, seen: ms(value), kept: value <= most };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
