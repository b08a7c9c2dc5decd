// class: pure
import t from 'tap';
import { CommitBarrier } from '../../src/coherence/barrier.ts';
import { Membership } from '../../src/coherence/membership.ts';
import { leaseWaitMs, timingFor } from '../../src/coherence/timing.ts';
import { ProblemError } from '../../src/domain/problem.ts';
import { everythingThatFollows, ManualTime } from '../support/coherence/manual-time.ts';
import { row, ScriptedLog } from '../support/coherence/scripted-log.ts';

const timing = timingFor(300);
const leaseEndsMs = leaseWaitMs(timing.leaseMs);

function make() {
  const time = new ManualTime();
  const log = new ScriptedLog();
  const lease = { id: 'own', streamsEnded: 3, caughtUp: async () => undefined };
  const view = { applied: 5, incarnation: 'i' as string | null };
  const { clock, timers } = time;
  const membership = new Membership(log, clock, timing);
  const unheard: number[] = [];
  const events = { barrierWait: (_ms: number, timedOut: number) => unheard.push(timedOut) };
  const barrier = new CommitBarrier({ membership, lease, view, clock, timers, timing, events });
  /** What became of a writer, so far. */
  const wait = (seq: number) => {
    const writer = { state: 'waiting', receipt: {} as object, waitedMs: 0 };
    const since = time.now;
    barrier.enforced(seq, 'i').then(
      (receipt) => Object.assign(writer, { state: 'enforced', receipt, waitedMs: time.now - since }),
      (error: unknown) =>
        Object.assign(writer, {
          state: error instanceof ProblemError ? error.problem.code : String(error),
          waitedMs: time.now - since,
        }),
    );
    return writer;
  };
  return { time, log, lease, view, wait, unheard };
}

t.test('a writer gets its response once every replica has confirmed', async (t) => {
  const { time, log, wait } = make();
  log.rows = [row('a', 5, { streamsClosed: 2 }), row('b', 4)];
  const writer = wait(5);
  await time.advance(20);
  t.equal(writer.state, 'waiting');
  log.rows = [row('a', 5, { streamsClosed: 2 }), row('b', 5, { streamsClosed: 1 })];
  await time.advance(20);
  t.equal(writer.state, 'enforced');
  t.match(writer.receipt, { replicas: 2, timedOut: 0, streamsClosed: 3 });
});

t.test('its own replica needs no row to know what it decides by', async (t) => {
  const { log, wait } = make();
  log.rows = [row('own', 3, { streamsClosed: 7 })];
  const writer = wait(5);
  await everythingThatFollows();
  t.equal(writer.state, 'enforced');
  t.same(log.asked, ['replicas']);
  t.match(writer.receipt, { streamsClosed: 3 }, 'what the row says is about something earlier');
});

t.test('its own replica is asked to catch up at the same time', async (t) => {
  const { time, log, lease, view, wait } = make();
  log.rows = [row('own', 3)];
  view.applied = 4;
  lease.caughtUp = async () => void (view.applied = 5);
  const writer = wait(5);
  await time.advance(0);
  t.equal(writer.state, 'enforced');
});

t.test('its own replica counts like any other while it cannot catch up', async (t) => {
  const { time, log, view, wait } = make();
  log.rows = [row('own', 3)];
  view.applied = 4;
  const behind = wait(5);
  await time.advance(leaseEndsMs);
  t.equal(behind.state, 'waiting');
  await time.advance(60);
  t.match(behind, { state: 'enforced', receipt: { timedOut: 1 } });
});

t.test(
  'a replica that does not confirm is waited for until its lease has run out, not a moment less',
  async (t) => {
    const { time, log, wait } = make();
    log.rows = [row('a', 5), row('b', 4)];
    const writer = wait(5);
    await time.advance(leaseEndsMs);
    t.equal(writer.state, 'waiting');
    await time.advance(60);
    t.equal(writer.state, 'enforced');
    t.match(writer.receipt, { replicas: 2, timedOut: 1 });
  },
);

t.test(
  'the longest registered lease with its streams counts, and what clocks may be wrong by over both',
  async (t) => {
    const { time, log, wait } = make();
    log.rows = [row('a', 4, { leaseMs: 1_200, streamsMs: 800 })];
    const writer = wait(5);
    await time.advance(leaseWaitMs(2_000));
    t.equal(writer.state, 'waiting');
    await time.advance(60);
    t.equal(writer.state, 'enforced');
  },
);

t.test('a reading of the members that began before the commit says nothing about it', async (t) => {
  const { time, log, wait } = make();
  log.rows = [row('a', 4)];
  wait(5);
  await time.advance(10);
  // The next reading sees no replica at all; before it is told, another mutation is committed.
  log.rows = [];
  log.hold();
  await time.advance(10);
  log.rows = [row('b', 5)];
  log.reading = { ...log.reading, seq: 6 };
  const later = wait(6);
  log.release();
  await everythingThatFollows();
  t.equal(later.state, 'waiting');
  await time.advance(20);
  t.equal(later.state, 'waiting');
});

t.test('without a reading of the members it never gets a 2xx', async (t) => {
  const { time, log, wait } = make();
  log.failure = new Error('away');
  const writer = wait(5);
  await time.advance(leaseEndsMs);
  t.equal(writer.state, 'waiting');
  await time.advance(100);
  t.equal(writer.state, 'unavailable');
});

t.test('one reading after the commit is enough to wait for the leases without the store', async (t) => {
  const { time, log, wait } = make();
  log.rows = [row('a', 4)];
  const writer = wait(5);
  await time.advance(20);
  log.failure = new Error('away');
  await time.advance(leaseEndsMs);
  await time.advance(60);
  t.equal(writer.state, 'enforced');
  t.match(writer.receipt, { timedOut: 1 });
});

t.test(
  'a replica that was killed is in the receipt, though its row is taken away before the wait is over',
  async (t) => {
    for (const [ageMs, receipt] of [
      [310, { replicas: 2, timedOut: 1 }],
      // It left by itself, and had renewed a moment before.
      [60, { replicas: 1, timedOut: 0 }],
    ] as const) {
      const { time, log, wait, unheard } = make();
      log.rows = [row('a', 5), row('dead', 4, { ageMs })];
      const writer = wait(5);
      await time.advance(20);
      t.equal(writer.state, 'waiting');
      log.rows = [row('a', 5)];
      await time.advance(60);
      t.match(writer, { state: 'enforced', receipt }, `${ageMs} ms after its last renewal`);
      t.same(unheard, [receipt.timedOut], 'which is counted');
    }
  },
);

t.test('a mutation of a history that is gone is not confirmed', async (t) => {
  for (const broken of [{ incarnation: 'restored' }, { seq: 4 }]) {
    const { log, wait } = make();
    log.reading = { ...log.reading, ...broken };
    const writer = wait(5);
    await everythingThatFollows();
    t.equal(writer.state, 'unavailable', JSON.stringify(broken));
  }
});

t.test('nor is one that this replica took for its own history only after the fact', async (t) => {
  for (const known of ['restored', null]) {
    const { log, view, wait } = make();
    // Restored between the commit, which was of history `i`, and the first look at anything since.
    view.incarnation = known;
    log.reading = { ...log.reading, incarnation: 'restored' };
    const writer = wait(5);
    await everythingThatFollows();
    t.equal(writer.state, 'unavailable', String(known));
  }
});

t.test('after a restore every writer waits a full lease, until one has waited it for all', async (t) => {
  const { time, log, wait } = make();
  log.complete = false;
  const first = wait(5);
  await time.advance(leaseEndsMs);
  t.equal(first.state, 'waiting');
  await time.advance(60);
  t.equal(first.state, 'enforced');
  t.ok(log.asked.includes('note complete i'));
  log.complete = true;
  const second = wait(5);
  await everythingThatFollows();
  t.equal(second.state, 'enforced');
});

t.test('many writers share the readings', async (t) => {
  const { time, log, wait } = make();
  log.rows = [row('a', 4)];
  const writers = Array.from({ length: 100 }, () => wait(5));
  await time.advance(100);
  const readings = log.asked.filter((each) => each === 'replicas').length;
  t.ok(readings < 30, `${readings} readings`);
  log.rows = [row('a', 5)];
  await time.advance(60);
  t.ok(writers.every(({ state }) => state === 'enforced'));
});

t.test('a fresh writer is not held up by one that waits for long', async (t) => {
  const { time, log, wait } = make();
  log.rows = [row('a', 5), row('b', 4)];
  wait(5);
  await time.advance(200);
  const fresh = wait(4);
  await everythingThatFollows();
  t.equal(fresh.state, 'enforced');
});
