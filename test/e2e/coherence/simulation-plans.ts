/** Mixtures of faults, and what a run of each has to hold. */
import t from 'tap';
import type { Faults, Plan } from '../../support/coherence/plan.ts';
import { simulate } from '../../support/coherence/simulation.ts';

export const virtualMs = 10_000;

const mixtures: Record<string, Partial<Faults>> = {
  'replicas that stand still and wake up': { pause: 0.04, freeze: 0.02 },
  'replicas that are killed, and others that leave': { kill: 0.01, deregister: 0.02, pause: 0.01 },
  'a store that hangs, restarts and loses connections': { storePause: 0.01, storeRestart: 0.01, loss: 0.03 },
  'a log that is pruned past a sleeping replica': { prune: 0.2, pause: 0.04 },
  'backups that are brought back': { restore: 0.01, pause: 0.01, slow: 0.1 },
  'replicas cut off from the store or the cache, one way or both': { partition: 0.03, loss: 0.01 },
  'a shared cache that forgets and resurrects': { cacheFlush: 0.02, cacheResurrect: 0.1, kill: 0.02 },
  'a shared cache that another program writes to': { cacheForge: 0.1, kill: 0.02, pause: 0.01 },
  'everything at once': {
    pause: 0.02,
    freeze: 0.01,
    kill: 0.005,
    deregister: 0.005,
    storePause: 0.005,
    storeRestart: 0.005,
    restore: 0.003,
    partition: 0.01,
    cacheFlush: 0.01,
    cacheResurrect: 0.02,
    cacheForge: 0.02,
    prune: 0.02,
    loss: 0.02,
    slow: 0.05,
  },
};

const plans: Record<string, Partial<Plan>> = {
  ...Object.fromEntries(Object.entries(mixtures).map(([what, faults]) => [what, { faults }])),
  'replicas with different T, cut off right after they renewed': {
    leases: [100, 300, 900],
    virtualMs: 16_000,
    faults: { partition: 0.03, pause: 0.01, kill: 0.005 },
  },
};

/** Defines a test of each mixture, with a run for each seed. */
export function testPlans(seeds: readonly number[]): void {
  for (const [what, plan] of Object.entries(plans)) testPlan(what, plan, seeds);
}

function testPlan(what: string, plan: Partial<Plan>, seeds: readonly number[]): void {
  t.test(`no decision by what was before a 2xx: ${what}`, async (t) => {
    for (const seed of seeds) {
      const outcome = await simulate({ seed, virtualMs, faults: {}, ...plan });
      t.same(outcome.stale, [], `seed ${seed}`);
      t.equal(outcome.outlived, 0, `seed ${seed}: streams end before their revocation is confirmed`);
      t.equal(outcome.passedLate, 0, `seed ${seed}: no byte passes after the 2xx`);
      t.equal(outcome.unrecovered, 0, `seed ${seed} recovers`);
      if ((plan.faults?.cacheForge ?? 0) === 0)
        t.equal(outcome.differed, 0, `seed ${seed}: the log tells of every change`);
      t.ok(outcome.decisions > outcome.rejections, `seed ${seed} decides more often than not`);
    }
  });
}
