// class: pure
/** Figures that change while they are in use: by a PATCH, or since a client uses both keys of a rotation, whose figures may differ. */
import t from 'tap';
import { noLimits, type Limits } from '../../../src/domain/limits/limits.ts';
import { Random } from '../../support/coherence/random.ts';
import { World } from '../../support/limits/world.ts';
import { Counts } from '../../support/limits/windows.ts';

const runs = Number(process.env['LIMIT_RUNS'] ?? 12);
const stepMs = 5;

type Figures = Limits & { readonly requestsPerSecond: number; readonly burst: number };

function figures(random: Random): Figures {
  const requestsPerSecond = random.pick([1, 10, 100, 500]);
  return { ...noLimits, requestsPerSecond, burst: random.pick([1, 10, 200, 1_000]) };
}

/** Asks each replica in each step for as much as `perStep` says, with keys that are picked by `turns`. */
async function useBoth(
  world: World,
  { forMs, perStep, turns }: { forMs: number; perStep: number; turns: () => Limits },
): Promise<Counts> {
  const admitted = new Counts(stepMs);
  for (const end = world.time.nowMs + forMs; world.time.nowMs < end;) {
    const before = world.admitted.total;
    await world.step();
    admitted.add(world.admitted.total - before);
    for (const replica of world.replicas)
      for (let i = 0; i < perStep; i++) {
        world.limits = turns();
        world.ask(replica);
      }
  }
  const before = world.admitted.total;
  await world.rest(25);
  admitted.add(world.admitted.total - before);
  return admitted;
}

for (const replicas of [1, 3])
  t.test(
    `two keys of one limit with figures of their own, over ${replicas}: in turns no more than the larger alone`,
    async (t) => {
      for (let seed = 1; seed <= runs; seed++) {
        const random = new Random(7_000 + 10 * seed + replicas);
        const [a, b] = [figures(random), figures(random)];
        const rates = Array.from({ length: replicas }, () => 1);
        const world = new World({ random, limits: a, rates });
        await world.time.until(random.between(0, 3_000));
        const often = random.pick([0.001, 0.1, 1]);
        let used = a;
        const turns = (): Limits => {
          if (random.next() < often) used = used === a ? b : a;
          return used;
        };
        const admitted = await useBoth(world, { forMs: 25_000, perStep: random.pick([1, 5]), turns });
        const rate = Math.max(a.requestsPerSecond, b.requestsPerSecond);
        const burst = Math.max(a.burst, b.burst);
        const most = 1.02 * burst + replicas;
        const over = admitted.mostOver(1.02 * rate, 1_000) - most;
        t.ok(over <= 0, `run ${seed}: ${over.toFixed(1)} over the larger of ${JSON.stringify([a, b])}`);
      }
    },
  );

t.test('a raised limit gives nothing at once, and fills at its new rate', async (t) => {
  for (const replicas of [1, 3]) {
    const rates = Array.from({ length: replicas }, () => 1);
    const small = { ...noLimits, requestsPerSecond: 1, burst: 10 };
    const large = { ...noLimits, requestsPerSecond: 100, burst: 1_000 };
    const world = new World({ limits: small, rates });
    await useBoth(world, { forMs: 2_000, perStep: 5, turns: () => small });
    const atOnce = await useBoth(world, { forMs: stepMs, perStep: 100, turns: () => large });
    t.ok(atOnce.total <= 10, `${atOnce.total} at once with ${replicas}`);
    const later = await useBoth(world, { forMs: 5_000, perStep: 5, turns: () => large });
    t.ok(later.total > 450 && later.total <= 525, `${later.total} of 500 in 5 s with ${replicas}`);
  }
});
