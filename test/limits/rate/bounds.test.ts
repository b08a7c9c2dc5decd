/**
 * What `docs/limits.md` promises, in virtual time: several replicas with clocks of their own, load that moves, and what may
 * come between them. Each run is made from its number; `LIMIT_RUNS` makes more of them.
 */
import t, { type Test } from 'tap';
import { Random } from '../../support/coherence/random.ts';
import { World } from '../../support/limits/world.ts';

const runs = Number(process.env['LIMIT_RUNS'] ?? 12);
const longMs = 45_000;
/** Of the virtual time of `World`. */
const stepMs = 5;
/** Windows for which bounds are promised. */
const windowMs = 10_000;

interface Given {
  readonly random: Random;
  readonly rate: number;
  readonly burst: number;
  readonly world: World;
}

function begin(seed: number, lost = 0, latencyMs: [number, number] = [0.5, 3]): Given {
  const random = new Random(seed);
  const rate = random.pick([20, 100, 300, 1_000]);
  const burst = Math.max(1, Math.round(rate * random.pick([0.01, 0.3, 1, 1, 5])));
  const replicas = 2 + random.below(3);
  const rates = Array.from({ length: replicas }, () => random.between(0.97, 1.03));
  const limits = { requestsPerSecond: rate, burst };
  const world = new World({ random: () => random.next(), limits, rates, latencyMs, lost });
  return { random, rate, burst, world };
}

/** Small limits and large bursts, which whole requests and first portions weigh heavily on. */
const figures = [
  [1, 1],
  [1, 20],
  [5, 5],
  [10, 10],
  [10, 1_000],
  [100, 500],
] as const;

/** As many replicas as `begin` does not make, with a limit of `figures`. */
function beginWith(seed: number, replicas: number): Given {
  const random = new Random(seed);
  const [rate, burst] = figures[seed % figures.length] as (typeof figures)[number];
  const rates = Array.from({ length: replicas }, () => random.between(0.97, 1.03));
  const limits = { requestsPerSecond: rate, burst };
  const world = new World({ random: () => random.next(), limits, rates });
  return { random, rate, burst, world };
}

/** All at once to each replica after a pause, in which it hears nothing of the others where it is long enough. */
function waves({ random, burst, world }: Given): (nowMs: number) => number[] {
  const size = random.pick([3, 40, Math.min(600, 2 * burst)]);
  const together = random.next() < 0.5;
  const nextMs = world.replicas.map(() => (together ? 0 : random.between(0, 3_000)));
  const [least, most] = random.pick<readonly [number, number]>([
    [1_005, 1_020],
    [1_000, 3_000],
  ]);
  return (nowMs) => {
    const common = random.between(least, most);
    return world.replicas.map((_, i) => {
      if (nowMs < (nextMs[i] ?? 0)) return 0;
      nextMs[i] = nowMs + (together ? common : random.between(least, most));
      return (size * 1_000) / stepMs;
    });
  };
}

/** Load that is uneven, and moves to another replica every so often. @param total of the limit */
function moving({ random, rate, world }: Given, total: number, everyMs = random.between(5_000, 15_000)) {
  const first = random.below(4);
  return (nowMs: number): number[] => {
    const alive = world.replicas.filter((each) => each.alive);
    const loud = alive[(first + Math.floor(nowMs / everyMs)) % alive.length];
    const others = 0.1 / Math.max(1, alive.length - 1);
    return world.replicas.map((each) => {
      if (!each.alive) return 0;
      return total * rate * (each === loud ? (alive.length === 1 ? 1 : 0.9) : others);
    });
  };
}

/** How much more than the bound was let through, at most; negative where there was room. */
function over({ world, rate, burst }: Given, times = 1.05, burstTimes = times): number {
  const whole = rate < 100 ? world.replicas.length : 0;
  return world.admitted.mostOver(times * rate, windowMs) - burstTimes * burst - whole;
}

/** How much less than the bound, at most. */
function under({ world, rate }: Given, times = 0.95): number {
  const whole = rate < 100 ? world.replicas.length : 0;
  return world.admitted.mostUnder(times * rate, windowMs) - whole;
}

function seeds(offset: number): number[] {
  return Array.from({ length: runs }, (_, i) => offset + i);
}

async function each(
  t: Test,
  offset: number,
  run: (seed: number, name: string) => Promise<void>,
): Promise<void> {
  for (const seed of seeds(offset)) await run(seed, `run ${seed}`);
  t.end();
}

void t.test('within 5 % under uneven, moving load, for every window of ten seconds or more', (t) =>
  each(t, 1_000, async (seed, name) => {
    const given = begin(seed);
    await given.world.run(longMs, moving(given, given.random.pick([1.2, 2, 5])));
    t.ok(over(given) <= 0, `${name}: ${over(given).toFixed(1)} over, ${given.rate}/s, burst ${given.burst}`);
    t.ok(under(given) <= 0, `${name}: ${under(given).toFixed(1)} under`);
  }),
);

void t.test('within it while responses are late or lost, the board is flushed, and replicas come', (t) =>
  each(t, 2_000, async (seed, name) => {
    const given = begin(seed, seed % 2 === 0 ? 0.03 : 0, [1, 60]);
    const { random, world } = given;
    world.time.after(random.between(8_000, 20_000), () => world.board.flush());
    world.time.after(random.between(20_000, 30_000), () => world.start(random.between(0.97, 1.03)));
    await world.run(longMs, moving(given, random.pick([1.2, 2, 5])));
    t.ok(over(given) <= 0, `${name}: ${over(given).toFixed(1)} over, ${given.rate}/s, burst ${given.burst}`);
    // Shares that come late cost a little where load moves.
    t.ok(under(given, 0.85) <= 0, `${name}: ${under(given, 0.85).toFixed(1)} under, ${given.rate}/s`);
  }),
);

void t.test('never more than one and a half times, whatever is killed or cut off', (t) =>
  each(t, 3_000, async (seed, name) => {
    const given = begin(seed, 0.05, [1, 60]);
    const { random, world } = given;
    const pick = (): (typeof world.replicas)[number] => random.pick(world.replicas);
    const faults: (() => void)[] = [
      () => world.kill(pick()),
      () => void (world.storesAway = true),
      () => void (pick().cut = true),
      () => world.board.flush(),
    ];
    for (let i = 0; i < 3; i++) {
      world.time.after(random.between(5_000, longMs), random.pick(faults));
      world.time.after(random.between(15_000, longMs), () => {
        world.storesAway = false;
        for (const replica of world.replicas) replica.cut = false;
      });
    }
    await world.run(longMs, moving(given, random.pick([1, 2, 5])));
    t.ok(
      over(given, 1.5) <= 0,
      `${name}: ${over(given, 1.5).toFixed(1)} over, ${given.rate}/s, burst ${given.burst}`,
    );
  }),
);

void t.test('a tenant within its limit is never shut out, by any replica, whatever is gone', (t) =>
  each(t, 4_000, async (seed, name) => {
    const given = begin(seed);
    const { random, world, rate } = given;
    world.time.after(
      10_000,
      random.pick([() => (world.storesAway = true), () => world.kill(world.replicas[0] as never)]),
    );
    const demand = moving(given, 0.6, 5_000);
    for (let from = 0; from < 40_000; from += 5_000) {
      const before = [world.admitted.total, world.asked.total];
      await world.run(5_000, demand);
      const [admitted, asked] = [
        world.admitted.total - (before[0] ?? 0),
        world.asked.total - (before[1] ?? 0),
      ];
      t.ok(admitted > 0 || asked < 1, `${name}: ${admitted} of ${asked} from ${from}, ${rate}/s`);
    }
  }),
);

void t.test('a tenant that stays below its limit is not rejected, though its load is uneven', (t) =>
  each(t, 5_000, async (seed, name) => {
    const given = begin(seed);
    given.world.limits = { ...given.world.limits, burst: given.rate };
    await given.world.run(longMs, moving(given, 0.6));
    const { asked, admitted } = given.world;
    const part = (asked.total - admitted.total) / asked.total;
    t.ok(part < 0.01, `${name}: ${(100 * part).toFixed(2)} % of ${asked.total} rejected, ${given.rate}/s`);
  }),
);

for (const replicas of [3, 10]) {
  void t.test(`within 5 % with small limits and large bursts, in waves, over ${replicas}`, (t) =>
    each(t, 6_000, async (seed, name) => {
      const given = beginWith(seed, replicas);
      await given.world.run(longMs, waves(given));
      t.ok(
        over(given) <= 0,
        `${name}: ${over(given).toFixed(1)} over, ${given.rate}/s, burst ${given.burst}`,
      );
    }),
  );

  void t.test(`never more than one and a half times, without a store, over ${replicas}`, (t) =>
    each(t, 7_000, async (seed, name) => {
      const given = beginWith(seed, replicas);
      const { random, world, rate, burst } = given;
      const before = random.pick([0, 8_000]);
      if (before > 0) await world.run(before, random.pick([waves(given), moving(given, 2)]));
      world.storesAway = true;
      await world.run(2 * longMs, random.pick([waves(given), moving(given, 5, 3_000)]));
      t.ok(
        over(given, 1.5, 1) <= 0,
        `${name}: ${over(given, 1.5, 1).toFixed(1)} over, ${rate}/s, burst ${burst}`,
      );
    }),
  );

  void t.test(
    `without a store a tenant within its limit is never shut out for ten seconds, over ${replicas}`,
    (t) =>
      each(t, 8_000, async (seed, name) => {
        const given = beginWith(seed, replicas);
        const { world, rate } = given;
        await world.run(8_000, moving(given, 0.8));
        world.storesAway = true;
        const demand = moving(given, 0.8, 10_000);
        for (let from = 0; from < 60_000; from += 10_000) {
          const [admitted, asked] = [world.admitted.total, world.asked.total];
          await world.run(10_000, demand);
          const now = [world.admitted.total - admitted, world.asked.total - asked];
          t.ok((now[0] ?? 0) > 0 || now[1] === 0, `${name}: ${now.join(' of ')} from ${from}, ${rate}/s`);
        }
      }),
  );
}
