// class: protocol
/** Take one part of the protocol out, and the checker of histories must notice: else a green run means nothing. */
import t from 'tap';
import * as mutations from '../../support/coherence/protocol-mutations.ts';
import type { Faults, ProtocolMutation } from '../../support/coherence/plan.ts';
import { simulate } from '../../support/coherence/simulation.ts';

const virtualMs = 10_000;
const usualFaults: Partial<Faults> = {
  pause: 0.04,
  freeze: 0.01,
  kill: 0.005,
  storePause: 0.005,
  storeRestart: 0.005,
  restore: 0.005,
  cacheResurrect: 0.02,
  cacheForge: 0.05,
  prune: 0.02,
  loss: 0.02,
  slow: 0.05,
};
/** Most are noticed in the first run; the rarest race needs a few, if its seed has changed with the simulation. */
const mostRuns = 60;
/** The first seeds that are tried, where it is not 1. */
const seeds: Readonly<Record<string, number>> = {
  countTooEarly: 11,
  overlookTheRestore: 2,
  registerAndReadInOne: 22,
  respondToCreatesAtOnce: 2,
  trustRestoredRows: 4,
  waitByTheOwnLease: 4,
};

for (const [name, mutation] of Object.entries(mutations)) {
  t.test(`the checker notices: ${name}`, async (t) => {
    t.ok(await caught(usualFaults, mutation, seeds[name]));
  });
}

t.test('the checker notices a row that goes away while its replica lives', async (t) => {
  t.ok(await caught({ ...usualFaults, dropRow: 0.05 }));
});

t.test('the one gap: a machine that stands still without any of its clocks showing it', async (t) => {
  t.ok(await caught({ freezeUnseen: 0.03 }));
});

t.test(
  'the checker notices a log that is pruned by the clock of the database, when that is set',
  async (t) => {
    const { restarts } = await simulate({
      seed: 1,
      virtualMs,
      faults: { clockJump: 0.01 },
      mutation: pruneByTheClock,
    });
    t.ok(restarts > 0);
  },
);

/** Deletes what is older than an hour, and believes the database as to what that is. */
const pruneByTheClock: ProtocolMutation = {
  log: (log, store, process) => ({
    ...log,
    register: async (replica) => {
      const acked = await log.register(replica);
      await store.call(process, () => store.pruneOlder(3_600_000));
      return acked;
    },
  }),
};

async function caught(faults: Partial<Faults>, mutation: ProtocolMutation = {}, first = 1): Promise<boolean> {
  for (const seed of new Set([first, ...Array.from({ length: mostRuns }, (_, i) => i + 1)])) {
    const { stale, outlived, passedLate } = await simulate({
      seed,
      virtualMs,
      faults,
      ...mutation.circumstances,
      mutation,
    });
    if (stale.length + outlived + passedLate > 0) return true;
  }
  return false;
}
