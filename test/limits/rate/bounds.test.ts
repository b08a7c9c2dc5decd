// class: pure
/**
 * The promises of `docs/limits.md`, in virtual time: several replicas with clocks of their own, load that moves, and whatever may
 * come between them and the store. Each run is made from its number; `LIMIT_RUNS` makes more of them.
 */
import t, { type Test } from 'tap';
import type { Full, Taken } from '../../../src/ports/limits/rate-limiter.ts';
import { Random } from '../../support/coherence/random.ts';
import { World } from '../../support/limits/world.ts';

const runs = Number(process.env['LIMIT_RUNS'] ?? 6);
const longMs = 30_000;
/** Windows for which bounds are promised. */
const windowMs = 1_000;

interface Given {
  readonly random: Random;
  readonly rate: number;
  readonly burst: number;
  readonly world: World;
}

interface Options {
  readonly replicas?: number;
  readonly figures?: readonly (readonly [rate: number, burst: number])[];
  readonly lost?: number;
  readonly latencyMs?: readonly [number, number];
}

const usual = [20, 100, 300, 1_000].flatMap((rate) =>
  [0.05, 0.3, 1, 1, 5].map((part) => [rate, Math.ceil(rate * part)] as const),
);
/** Buckets that chance alone does not empty. */
const lasting = usual.filter(([rate, burst]) => burst >= 20 && burst <= rate);
/** Small limits and large bursts, which whole requests weigh heavily on. */
const extreme = [
  [1, 1],
  [1, 20],
  [5, 5],
  [10, 10],
  [10, 1_000],
  [100, 500],
] as const;

function begin(
  seed: number,
  { replicas, figures = usual, lost = 0, latencyMs = [0.15, 2] }: Options = {},
): Given {
  const random = new Random(seed);
  const [rate, burst] = random.pick(figures);
  const count = replicas ?? random.pick([1, 2, 3, 10]);
  const rates = Array.from({ length: count }, () => random.between(0.97, 1.03));
  const limits = { requestsPerSecond: rate, burst };
  const world = new World({ random, limits, rates, latencyMs, lost });
  return { random, rate, burst, world };
}

/** Load that is uneven, 90/5/5, and moves to another replica every so often. @param total of the limit */
function moving({ random, rate, world }: Given, total: number, everyMs = random.between(2_000, 9_000)) {
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

/** Many requests at once, to each replica alone or to all, again and again. */
function waves({ random, burst, world }: Given): (nowMs: number) => number[] {
  const size = random.pick([3, 40, Math.min(600, 2 * burst)]);
  const together = random.next() < 0.5;
  const nextMs = world.replicas.map(() => (together ? 0 : random.between(0, 3_000)));
  return (nowMs) => {
    const common = random.between(20, 3_000);
    return world.replicas.map((_, i) => {
      if (nowMs < (nextMs[i] ?? 0)) return 0;
      nextMs[i] = nowMs + (together ? common : random.between(20, 3_000));
      return (size * 1_000) / world.admitted.stepMs;
    });
  };
}

/** How much more than the bound was let through, at most; negative where there was room. */
function over({ world, rate, burst }: Given, times = 1.02): number {
  return world.admitted.mostOver(times * rate, windowMs) - times * burst - world.replicas.length;
}

function named({ world, rate, burst }: Given, seed: number): string {
  return `run ${seed}, ${rate}/s, burst ${burst}, ${world.replicas.length} replicas`;
}

async function each(
  t: Test,
  options: Options & { readonly first: number },
  run: (given: Given, name: string) => Promise<void>,
): Promise<void> {
  for (let seed = options.first; seed < options.first + runs; seed++) {
    const given = begin(seed, options);
    await run(given, named(given, seed));
  }
  t.end();
}

void t.test('within 2 % and one a replica, for every window of a second, under uneven, moving load', (t) =>
  each(t, { first: 1_000, figures: lasting }, async (given, name) => {
    const { random, rate, world } = given;
    await world.run(longMs, moving(given, random.pick([1.2, 2, 5])));
    t.ok(over(given) <= 0, `${name}: ${over(given).toFixed(1)} over`);
    const { total } = world.admitted;
    t.ok(total > (0.9 * rate * longMs) / 1000, `${name}: ${total} had`);
  }),
);

for (const replicas of [1, 2, 3, 10])
  void t.test(`within it with small limits and large bursts, in waves, over ${replicas}`, (t) =>
    each(t, { first: 2_000, replicas, figures: extreme }, async (given, name) => {
      await given.world.run(longMs, waves(given));
      t.ok(over(given) <= 0, `${name}: ${over(given).toFixed(1)} over`);
    }),
  );

void t.test('within it while answers are late or lost, and replicas come and are killed', (t) =>
  each(t, { first: 3_000, lost: 0.03, latencyMs: [1, 11] }, async (given, name) => {
    const { random, world } = given;
    world.time.after(random.between(5_000, 12_000), () => world.start(random.between(0.97, 1.03)));
    world.time.after(random.between(12_000, 20_000), () => world.kill(random.pick(world.replicas)));
    await world.run(longMs, moving(given, random.pick([1.2, 2, 5])));
    // A lost answer is a store that is away, for as long as a call is waited for.
    t.ok(over(given, 1.5) <= 0, `${name}: ${over(given, 1.5).toFixed(1)} over`);
  }),
);

void t.test('a store that forgets everything costs one burst more', (t) =>
  each(t, { first: 4_000 }, async (given, name) => {
    const { random, burst, world } = given;
    world.time.after(random.between(5_000, 12_000), () => world.buckets.flush());
    await world.run(longMs, moving(given, random.pick([1.2, 2, 5])));
    t.ok(over(given) <= burst, `${name}: ${over(given).toFixed(1)} over`);
  }),
);

void t.test(
  'a load that stays below the limit is never refused, wherever it comes and however it moves',
  (t) =>
    each(t, { first: 5_000 }, async (given, name) => {
      const { random, rate, world } = given;
      world.limits = { ...world.limits, burst: Math.max(20, rate) };
      let refused = 0;
      const count = (result: Taken | Full): void => void (refused += result.full ? 1 : 0);
      const demand = moving(given, random.pick([0.2, 0.6, 0.8]));
      await world.run(longMs, demand, count);
      t.equal(refused, 0, `${name}: ${refused} of ${world.asked.total} refused`);
    }),
);

for (const replicas of [1, 2, 3, 10, 50]) {
  void t.test(`the whole burst passes after a rest, at once, over ${replicas}`, (t) =>
    each(t, { first: 6_000, replicas, figures: [...usual, ...extreme] }, async (given, name) => {
      const { random, rate, burst, world } = given;
      await world.run(random.between(0, 5_000), moving(given, random.pick([0.5, 2])));
      const one = random.chance(0.5) ? random.pick(world.replicas) : null;
      await world.rest(Math.max(1_000, (1_000 * burst) / rate) + 5);
      const before = world.admitted.total;
      for (let i = 0; i < burst; i++) world.ask(one ?? random.pick(world.replicas));
      await world.rest(25);
      t.equal(world.admitted.total - before, burst, name);
    }),
  );

  void t.test(
    `one request every 1.05 s with a limit of 1 is never refused, wherever it comes, over ${replicas}`,
    (t) =>
      each(t, { first: 7_000, replicas, figures: [[1, 1]] }, async ({ random, world }, name) => {
        for (let i = 0; i < 20; i++) {
          world.ask(random.pick(world.replicas));
          await world.rest(1_050);
        }
        t.equal(world.admitted.total, 20, name);
      }),
  );
}

void t.test('a client alone that sends one request at a time and follows RateLimit never gets a 429', (t) =>
  each(t, { first: 8_000, figures: [...usual, ...extreme], latencyMs: [0.1, 0.8] }, async (given, name) => {
    const { random, world } = given;
    const thinkMs = random.pick([0, 0.5, 3, 20, 200]);
    const moves = random.pick([0.01, 0.1, 1]);
    let [replica, refused, sent, waits] = [random.pick(world.replicas), 0, 0, 0];
    const send = (): void => {
      if (random.chance(moves)) replica = random.pick(world.replicas);
      sent += 1;
      world.ask(replica, (result) => {
        if (result.full) refused += 1;
        const { remaining = 0, resetS = 0 } = result.scarcest ?? {};
        if (remaining === 0) waits += 1;
        const waitMs = remaining === 0 ? 1_000 * resetS : 0;
        world.time.after(waitMs + 0.5 + 2 * thinkMs * random.next(), send);
      });
    };
    send();
    await world.rest(20_000);
    t.equal(refused, 0, `${name}: ${refused} of ${sent} refused, ${waits} waits`);
  }),
);

void t.test('never more than one and a half times without the store, whatever is cut off', (t) =>
  each(t, { first: 9_000, figures: [...usual, ...extreme] }, async (given, name) => {
    const { random, world } = given;
    const before = random.pick([0, 15_000]);
    if (before > 0) await world.run(before, random.pick([waves(given), moving(given, 2)]));
    if (random.chance(0.5)) world.storesAway = true;
    else for (const replica of world.replicas) replica.cut = random.chance(0.5);
    await world.run(longMs, random.pick([waves(given), moving(given, 5, 3_000)]));
    world.storesAway = false;
    for (const replica of world.replicas) replica.cut = false;
    await world.run(5_000, moving(given, 5, 3_000));
    t.ok(over(given, 1.5) <= 0, `${name}: ${over(given, 1.5).toFixed(1)} over`);
  }),
);

void t.test('without the store replicas go on with their last share, and a tenant is not shut out', (t) =>
  each(t, { first: 10_000, figures: lasting }, async (given, name) => {
    const { rate, world } = given;
    const demand = moving(given, 0.8, Infinity);
    await world.run(40_000, demand);
    world.storesAway = true;
    const [admitted, asked] = [world.admitted.total, world.asked.total];
    await world.run(20_000, demand);
    const part = (world.admitted.total - admitted) / (world.asked.total - asked);
    t.ok(part > 0.9, `${name}: ${(100 * part).toFixed(1)} % had`);
    t.notOk(
      world.replicas.find(({ degraded }) => !degraded),
      'which each says',
    );
    const elsewhere = world.start();
    await world.rest(1_000);
    let admitted1 = 0;
    world.ask(elsewhere, (result) => (admitted1 += result.full ? 0 : 1));
    await world.rest(260);
    t.equal(admitted1, 1, 'a replica that did not know the limit lets one through');
    world.storesAway = false;
    await world.run(2_000, demand);
    t.notOk(
      world.replicas.find(({ degraded }) => degraded),
      `${rate} again`,
    );
  }),
);

void t.test('a flood asks about once for each token that comes', async (t) => {
  for (const replicas of [1, 3]) {
    const given = begin(1, { replicas, figures: [[20, 20]] });
    await given.world.run(10_000, () => given.world.replicas.map(() => 3_000));
    const { questions } = given.world.buckets;
    t.ok(questions < 2 * replicas * (20 * 10 + 20), `${questions} questions for 220 tokens over ${replicas}`);
  }
});
