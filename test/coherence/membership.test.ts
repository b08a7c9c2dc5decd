// class: pure
import t from 'tap';
import { Membership } from '../../src/coherence/membership.ts';
import { leaseWaitMs, timingFor } from '../../src/coherence/timing.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { row, ScriptedLog } from '../support/coherence/scripted-log.ts';

const timing = timingFor(300);

function make() {
  const time = new ManualTime();
  const log = new ScriptedLog();
  const membership = new Membership(log, time.clock, timing);
  /** Counts now; what it did beside. */
  const count = async () => {
    log.asked.length = 0;
    const { complete, longestReachMs } = await membership.read();
    return { complete, longestReachMs, did: log.asked.filter((each) => each !== 'replicas') };
  };
  return { time, log, count };
}

t.test(
  'a row goes only when its nonce stayed the same for its own lease and streams, on the clock of who looks',
  async (t) => {
    const { time, log, count } = make();
    log.rows = [row('a', 5), row('slow', 5, { leaseMs: 400, streamsMs: 600 })];
    t.same((await count()).did, []);
    time.pause(leaseWaitMs(timing.leaseMs));
    t.same((await count()).did, []);
    time.pause(1);
    t.same((await count()).did, [`remove a a's`]);
    time.pause(leaseWaitMs(1_000) - leaseWaitMs(timing.leaseMs) - 1);
    t.same((await count()).did, [`remove a a's`], 'longer streams are waited for longer');
    time.pause(1);
    t.same((await count()).did, [`remove a a's`, `remove slow slow's`]);
  },
);

t.test('a row that was renewed stays', async (t) => {
  const { time, log, count } = make();
  for (let renewal = 0; renewal < 10; renewal++) {
    log.rows = [row('a', 5, { nonce: `nonce ${renewal}` })];
    t.same((await count()).did, []);
    time.pause(timing.leaseMs);
  }
});

t.test('a row that went and came back is watched anew', async (t) => {
  const { time, log, count } = make();
  log.rows = [row('a', 5)];
  await count();
  time.pause(1_000);
  log.rows = [];
  await count();
  log.rows = [row('a', 5)];
  t.same((await count()).did, []);
});

t.test(
  'the rows of a restored database are complete once every lease that was ever seen has run out',
  async (t) => {
    const { time, log, count } = make();
    log.rows = [row('a', 5, { leaseMs: 100, streamsMs: 900 })];
    t.match(await count(), { complete: true, longestReachMs: 1_000 });
    log.rows = [];
    log.complete = false;
    log.reading = { ...log.reading, incarnation: 'restored' };
    t.match(await count(), { complete: false, longestReachMs: 1_000, did: [] });
    time.pause(1_000);
    t.match(await count(), { complete: false, did: [] });
    time.pause(leaseWaitMs(1_000) - 1_000);
    t.match(await count(), { complete: false, did: [] });
    time.pause(1);
    t.match(await count(), { complete: true, did: ['note complete restored'] });
  },
);

t.test('restored twice, the leases are waited for twice', async (t) => {
  const { time, log, count } = make();
  log.complete = false;
  await count();
  time.pause(timing.leaseMs);
  log.reading = { ...log.reading, incarnation: 'restored again' };
  await count();
  time.pause(timing.leaseMs);
  t.match(await count(), { complete: false, did: [] });
});
