import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenLoop } from '../load/paced.ts';
import type { Gateway, OutageEnvironment } from './environment.ts';
import { ms, quantile, type Finding } from './figures.ts';
import { foreignKeys, makeKeys, type KeyRing } from './keys.ts';
import type { Options } from './options.ts';

/** Of each kind of probe. */
const perSecond = 20;
const warmUp = 100;
const rounds = 3;

interface Seen {
  readonly revokes: number[];
  readonly lookUps: number[];
  readonly failed: string[];
  readonly flood: OpenLoop | null;
}

/**
 * Keys of other formats have no checksum, so each that is made up costs a look-up. Beside a flood of them keys are revoked,
 * and good keys are used that no memory holds.
 */
export async function strangers(environment: OutageEnvironment, options: Options): Promise<Finding> {
  const seconds = options.seconds || 10;
  const rates = [0, ...(options.rate ? [options.rate] : [1_000, 5_000])];
  const gateway = await environment.gateway('replica', 'without Redis');
  const probes = 2 * (rates.length * rounds * perSecond * seconds + warmUp);
  const prober = new Prober(gateway, await makeKeys(environment, gateway, probes));
  for (let i = 0; i < warmUp; i++) await Promise.all([prober.revoke(), prober.use()]);
  const seen = rates.map((): Seen[] => []);
  for (let round = 1; round <= rounds; round++) {
    for (const [i, rate] of rates.entries()) {
      const one = await measure(environment, gateway, prober, rate, seconds);
      environment.say(
        `round ${round}, ${rate} a second: cold look-ups p99 ${ms(quantile([...one.lookUps], 0.99))}`,
      );
      seen[i]?.push(one);
      await sleep(1_000);
    }
  }
  return found(rates, seen);
}

/** Uses each key once. */
class Prober {
  readonly #gateway: Gateway;
  readonly #ring: KeyRing;
  #used = 0;

  constructor(gateway: Gateway, ring: KeyRing) {
    this.#gateway = gateway;
    this.#ring = ring;
  }

  async revoke(): Promise<number | undefined> {
    const { sub, parent } = this.#ring;
    const path = `/v1/sub-accounts/${sub}/api-keys/${this.#next().id}/revoke`;
    return (await this.#gateway.client.send('POST', path, { key: parent.key, limitMs: 20_000 }))?.status;
  }

  /** With a key that is in no memory. */
  async use(): Promise<number | undefined> {
    const { text: key } = this.#next();
    return (await this.#gateway.client.send('GET', '/shipments', { key, limitMs: 20_000 }))?.status;
  }

  #next(): KeyRing['keys'][number] {
    const key = this.#ring.keys[this.#used++];
    if (key === undefined) throw new Error('no key is left');
    return key;
  }
}

async function measure(
  environment: OutageEnvironment,
  gateway: Gateway,
  prober: Prober,
  rate: number,
  seconds: number,
): Promise<Seen> {
  const flooding =
    rate === 0
      ? Promise.resolve(null)
      : environment.load(gateway, foreignKeys(rate * (seconds + 2)), {
          rate,
          seconds: seconds + 2,
          connections: 400,
          evenly: true,
        });
  await sleep(1_000);
  const failed: string[] = [];
  const [revokes, lookUps]: [number[], number[]] = [[], []];
  const underWay: Promise<void>[] = [];
  const began = performance.now();
  for (let i = 0; i < perSecond * seconds; i++) {
    await sleep(Math.max(0, began + (i * 1_000) / perSecond - performance.now()));
    for (const [send, took] of [
      [() => prober.revoke(), revokes],
      [() => prober.use(), lookUps],
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
  return { revokes, lookUps, failed, flood: await flooding };
}

function found(rates: readonly number[], seen: readonly (readonly Seen[])[]): Finding {
  const medians = seen.map((one) => ({
    revokes: [0.5, 0.99].map((share) => median(one.map(({ revokes }) => quantile([...revokes], share)))),
    lookUps: [0.5, 0.99].map((share) => median(one.map(({ lookUps }) => quantile([...lookUps], share)))),
  }));
  const [alone] = medians;
  return {
    header: [
      'made-up keys a second',
      'revokes, p50',
      'p99',
      'cold look-ups, p50',
      'p99',
      'failed',
      'they got',
    ],
    rows: medians.map(({ revokes, lookUps }, i) => [
      String(rates[i]),
      ...[...revokes, ...lookUps].map(ms),
      String(seen[i]?.flatMap(({ failed }) => failed).length),
      JSON.stringify(seen[i]?.at(-1)?.flood?.statuses ?? {}),
    ]),
    promises: medians.slice(1).flatMap(({ revokes, lookUps }, i) =>
      (
        [
          ['revokes', revokes, alone?.revokes],
          ['cold look-ups', lookUps, alone?.lookUps],
        ] as const
      ).map(([what, [, p99 = NaN], [, before = NaN] = []]) => ({
        what: `${rates[i + 1]} made-up keys a second: p99 of ${what} within three times what it is without`,
        seen: `${ms(before)} without, ${ms(p99)}`,
        kept: p99 <= 3 * before,
      })),
    ),
  };
}

function median(numbers: number[]): number {
  return quantile(numbers, 0.5);
}
