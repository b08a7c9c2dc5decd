// class: pure
import t from 'tap';
import { leaseWaitMs, retryPauses, timingFor } from '../../src/coherence/timing.ts';

/** What a clock that is wrong by a share of `off` shows after `ms` of true time, and the other way round. */
const trueMs = (shownMs: number, off: number): number => shownMs / (1 + off);

t.test(
  'a lease and its streams have ended when others have waited, with clocks wrong by 10 % in opposite directions',
  async (t) => {
    for (const leaseMs of [200, 300, 3_000, 15_000, 60_000]) {
      for (const streamsMs of [0, 1_000, 3_000, 300_000]) {
        const { marginMs, passMs } = timingFor(leaseMs, streamsMs);
        const runs = leaseMs - marginMs;
        const said = `T = ${leaseMs}, S = ${streamsMs}`;
        t.ok(trueMs(runs, -0.1) <= trueMs(leaseWaitMs(leaseMs), 0.1) + 1e-6, said);
        t.ok(trueMs(runs + passMs, -0.1) <= trueMs(leaseWaitMs(leaseMs + streamsMs), 0.1) + 1e-6, said);
        t.ok(passMs >= 0, 'streams never end before decisions');
      }
    }
  },
);

t.test('a connection that goes silent under a renewal is replaced while the lease still runs', async (t) => {
  for (let leaseMs = 1_000; leaseMs <= 60_000; leaseMs += 100) {
    const { renewEveryMs, storeMs, marginMs } = timingFor(leaseMs);
    const triedAgainMs = renewEveryMs + storeMs + retryPauses.firstMs;
    t.ok(triedAgainMs < leaseMs - marginMs, `T = ${leaseMs}`);
  }
});

t.test('a request waits for a statement that is under way and for its own, and 3 s at most', async (t) => {
  for (const leaseMs of [200, 1_000, 3_000, 60_000]) {
    const { storeMs, lookUpMs } = timingFor(leaseMs);
    t.equal(lookUpMs, 2 * storeMs);
    t.ok(lookUpMs <= 3_000);
  }
});
