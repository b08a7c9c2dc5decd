// class: pure
/** What is promised of limits by the month, in virtual time. */
import t from 'tap';
import { Random } from '../../support/coherence/random.ts';
import { World } from '../../support/limits/world.ts';

const runs = Number(process.env['LIMIT_RUNS'] ?? 10);

for (const [what, kill] of [
  ['over by one a replica at most', false],
  ['over by no more than a thousandth, or what a killed replica took in its last second', true],
] as const) {
  void t.test(`a quota is used up and then holds: ${what}`, async (t) => {
    for (let seed = 1; seed <= runs; seed++) {
      const random = new Random(seed);
      const quota = random.pick([10, 200, 3_000, 20_000]);
      const replicas = 2 + random.below(3);
      const rates = Array.from({ length: replicas }, () => random.between(0.97, 1.03));
      const limits = { requestsPerMonth: quota };
      const world = new World({ random, limits, rates, lost: 0.05, latencyMs: [1, 30] });
      const perSecond = Math.min(quota / 10, 1_000);
      if (kill) world.time.after(random.between(2_000, 12_000), () => world.kill(world.replicas[0] as never));
      await world.run(1_000, () => []);
      // The first that is alive has most of the load.
      const loud = (): number => world.replicas.findIndex((each) => each.alive);
      // Each lost answer keeps a replica waiting for more than a second, so this takes a while.
      let before: number;
      do {
        before = world.admitted.total;
        await world.run(10_000, () => world.replicas.map((_, i) => perSecond * (i === loud() ? 0.9 : 0.2)));
      } while (world.admitted.total > before);
      const { total } = world.admitted;
      const most = quota + Math.max(replicas, quota / 1000) + (kill ? perSecond : 0);
      t.ok(total <= most, `run ${seed}: ${total} of ${quota} with ${replicas} replicas`);
      t.ok(total >= quota - Math.max(replicas, quota / 100), `run ${seed}: ${total} of ${quota} were had`);
      t.ok(world.time.nowMs < 120_000, `run ${seed}: in ${world.time.nowMs} ms`);
      t.equal(world.replicas.filter((each) => world.ask(each)).length, 0, 'nothing is left anywhere');
    }
  });
}

void t.test('a replica that was not asked before knows that a quota is used up', async (t) => {
  const world = new World({ limits: { requestsPerMonth: 500 } });
  await world.run(20_000, () => [60, 0]);
  const late = world.start();
  await world.run(2_000, () => []);
  const more = Array.from({ length: 50 }, () => world.ask(late)).filter(Boolean).length;
  t.ok(
    world.admitted.total >= 495 && world.admitted.total + more <= 503,
    `${world.admitted.total} and ${more} more`,
  );
});

/** Longer than a limit is in memory that is not used. */
const forgottenMs = 20_000;

for (const replicas of [1, 3])
  for (const lowered of [500, 10_000])
    for (const idleMs of [0, forgottenMs])
      void t.test(
        `a quota lowered to ${lowered}, below what was used, lets through no more: ${replicas} replicas, ${idleMs} ms idle`,
        async (t) => {
          const rates = Array.from({ length: replicas }, () => 1);
          const world = new World({ limits: { requestsPerMonth: 1_000_000 }, rates });
          await world.run(2_000, () => []);
          await world.run(10_000, () => [2_000]);
          await world.run(Math.max(5, idleMs), () => []);
          const { total } = world.admitted;
          world.change({ requestsPerMonth: lowered });
          await world.run(20_000, () => rates.map(() => 200));
          const more = world.admitted.total - total;
          t.ok(more <= Math.max(replicas, lowered / 1_000), `${total} were used, then ${more} more`);
          const late = world.start();
          await world.run(2_000, () => []);
          t.notOk(world.ask(late), 'nor does a replica that comes later');
        },
      );

void t.test('a quota of which nothing was used is there at once', async (t) => {
  const random = new Random(1);
  const world = new World({ random, limits: { requestsPerMonth: 10 }, rates: [1, 1, 1] });
  const admitted = async (): Promise<number> => {
    const before = world.admitted.total;
    for (let i = 0; i < 60; i++) world.ask(random.pick(world.replicas));
    await world.rest(30);
    return world.admitted.total - before;
  };
  t.equal(await admitted(), 10);
  world.change({ requestsPerMonth: 30 });
  t.equal(await admitted(), 20, 'and what it is raised by');
  await world.rest(forgottenMs);
  world.change({ requestsPerMonth: 40 });
  t.equal(await admitted(), 10);
});

void t.test('a quota that is set in mid-month counts what passed before', async (t) => {
  const world = new World({ limits: { requestsPerMonth: null } });
  await world.run(10_000, () => [5, 5]);
  const { total: before } = world.admitted;
  world.change({ requestsPerMonth: before + 50 });
  await world.run(10_000, () => [10, 10]);
  t.equal(world.admitted.total, before + 50);
});

void t.test('a quota is had to its last unit, and nobody is refused while anything is left', async (t) => {
  for (let seed = 1; seed <= runs; seed++) {
    const random = new Random(500 + seed);
    const quota = random.pick([10, 300, 5_000, 40_000]);
    const replicas = random.pick([1, 2, 3, 10]);
    const rates = Array.from({ length: replicas }, () => 1);
    const limits = { requestsPerMonth: quota };
    const latencyMs = random.pick([
      [0.3, 3],
      [20, 25],
      [100, 150],
    ] as const);
    const world = new World({ random, limits, rates, latencyMs });
    let [early, admitted, guessed] = [0, 0, 0];
    const loud = random.below(replicas);
    await world.run(
      25_000,
      () => rates.map((_, i) => (quota / 15) * (i === loud ? 0.9 : 0.1 / Math.max(1, replicas - 1))),
      (result) => {
        if (result.full && !result.confirmed) guessed += 1;
        if (!result.full) admitted += 1;
        else if (admitted + world.waiting < quota - Math.max(replicas, quota / 1_000)) early += 1;
      },
    );
    t.equal(guessed, 0, `run ${seed}: guesses, with ${latencyMs.join(' to ')} ms one way`);
    t.equal(early, 0, `run ${seed}: refused before ${quota} were used, ${replicas} replicas`);
    t.ok(world.admitted.total <= quota + replicas, `run ${seed}: ${world.admitted.total} of ${quota}`);
    t.ok(world.admitted.total >= quota - replicas, `run ${seed}: ${world.admitted.total} of ${quota}`);
  }
});
