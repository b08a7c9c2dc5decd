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
      const world = new World({ random: () => random.next(), limits, rates, lost: 0.05, latencyMs: [1, 30] });
      const perSecond = Math.min(quota / 10, 1_000);
      if (kill) world.time.after(random.between(2_000, 12_000), () => world.kill(world.replicas[0] as never));
      await world.run(1_000, () => []);
      // The first that is alive has most of the load.
      const loud = (): number => world.replicas.findIndex((each) => each.alive);
      await world.run(30_000, () => world.replicas.map((_, i) => perSecond * (i === loud() ? 0.9 : 0.2)));
      const { total } = world.admitted;
      const most = quota + Math.max(replicas, quota / 1000) + (kill ? perSecond : 0);
      t.ok(total <= most, `run ${seed}: ${total} of ${quota} with ${replicas} replicas`);
      t.ok(total >= quota - Math.max(replicas, quota / 100), `run ${seed}: ${total} of ${quota} were had`);
      t.equal(world.replicas.filter((each) => world.ask(each)).length, 0, 'nothing is left anywhere');
    }
  });
}

void t.test('a replica that was not asked before knows that a quota is used up', async (t) => {
  const random = new Random(1);
  const world = new World({ random: () => random.next(), limits: { requestsPerMonth: 500 }, rates: [1, 1] });
  await world.run(20_000, () => [60, 0]);
  const late = world.start();
  await world.run(2_000, () => []);
  const more = Array.from({ length: 50 }, () => world.ask(late)).filter(Boolean).length;
  t.ok(
    world.admitted.total >= 495 && world.admitted.total + more <= 503,
    `${world.admitted.total} and ${more} more`,
  );
});

void t.test(
  'a quota near its end is told of once by each replica that uses it, and counted until it is raised',
  async (t) => {
    const random = new Random(1);
    const limits = { requestsPerMonth: 2_000 };
    const world = new World({ random: () => random.next(), limits, rates: [1, 1] });
    const near = (): number[] => world.replicas.map(({ limiter }) => limiter.quotasNearEnd);
    await world.run(10_000, () => [80, 80]);
    t.same(near(), [0, 0], `${world.admitted.total} of 2,000 are used`);
    await world.run(10_000, () => [80, 80]);
    t.same(near(), [1, 1], `${world.admitted.total} of 2,000 are used`);
    t.same(world.toldNearEnd, ['r0 sub_account:a', 'r1 sub_account:a']);
    world.limits = { ...world.limits, requestsPerMonth: 1_000_000 };
    await world.run(15_000, () => [10, 10]);
    t.same(near(), [0, 0]);
  },
);
