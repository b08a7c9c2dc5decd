// class: protocol
/** The protocol in virtual time: three replicas with clocks that are wrong by 10 %, writers, clients and seeded faults. */
import t from 'tap';
import { noFactCache } from '../../../src/coherence/no-fact-cache.ts';
import { simulate } from '../../support/coherence/simulation.ts';
import { testPlans, virtualMs } from './simulation-plans.ts';

t.test(
  'in calm times every request is decided, every mutation gets its 2xx, and nothing is stale',
  async (t) => {
    const outcome = await simulate({ seed: 1, virtualMs, faults: {} });
    t.same(outcome.stale, []);
    t.equal(outcome.rejections, 0);
    t.equal(outcome.withoutResponse, 0);
    t.ok(outcome.decisions > 10_000);
    t.ok(outcome.mutations > 1_000);
  },
);

t.test('a replica that is behind catches up, whatever clock is set', async (t) => {
  const outcome = await simulate({ seed: 1, virtualMs, faults: { clockJump: 0.02, pause: 0.04, slow: 0.1 } });
  t.equal(outcome.restarts, 0);
  t.same(outcome.stale, []);
});

t.test('what the log does not tell of is enforced once each fact was read again, and counted', async (t) => {
  for (const seed of [1, 3, 4]) {
    const outcome = await simulate({
      ...{ seed, virtualMs, faults: { hand: 0.05, slow: 0.05 } },
      mutation: { cache: () => noFactCache },
    });
    t.same(outcome.stale, [], `seed ${seed}`);
    t.ok(outcome.differed > 0, `${outcome.differed} facts differed`);
  }
});

testPlans([1]);
