// class: pure
import t from 'tap';
import { leaseWaitMs, retryPauses, timingFor } from '../../src/coherence/timing.ts';
import type { FactKey } from '../../src/ports/facts.ts';
import { leaseMs, makeLease, rejection, startedLease, timing } from '../support/coherence/lease-pieces.ts';
import { everythingThatFollows } from '../support/coherence/manual-time.ts';

t.test(
  'it registers, reads, confirms, in this order, each after the response to the one before',
  async (t) => {
    const { log, lease, revocations } = makeLease();
    revocations.onRevoked(() => log.asked.push('end streams'));
    log.reading = { ...log.reading, entries: [{ seq: 5, key: 'n:a', revoked: true }] };
    const seen: number[] = [];
    log.hold();
    lease.start();
    for (let step = 0; step < 3; step++) {
      await everythingThatFollows();
      seen.push(log.asked.length);
      t.equal(lease.holds(), false);
      log.release();
      log.hold();
    }
    await everythingThatFollows();
    t.same(log.asked, ['register r1 r2 1200', 'read after nothing', 'end streams', 'ack r1 5 3']);
    t.same(seen, [1, 2, 4]);
    t.equal(lease.holds(), true);
  },
);

t.test('a new quota is confirmed when the counts so far are added', async (t) => {
  let add = (): void => undefined;
  const quotaSet = () => new Promise<void>((resolve) => (add = resolve));
  const { log, lease } = makeLease({ events: { quotaSet } });
  log.reading = { ...log.reading, entries: [{ seq: 5, key: 'q:p' as FactKey, revoked: false }] };
  lease.start();
  await everythingThatFollows();
  t.same(log.asked, ['register r1 r2 1200', 'read after nothing']);
  add();
  await everythingThatFollows();
  t.same(log.asked, ['register r1 r2 1200', 'read after nothing', 'ack r1 5 0']);
});

t.test('a pass that fails between two pages loses nothing of the first', async (t) => {
  const added: unknown[] = [];
  const quotaSet = () => Promise.resolve(void added.push(view.through));
  const { time, log, view, revocations } = await startedLease({ events: { quotaSet } });
  revocations.onRevoked(() => 2);
  const entries = [
    { seq: 6, key: 'n:a' as FactKey, revoked: true },
    { seq: 7, key: 'q:p' as FactKey, revoked: false },
  ];
  log.reading = { ...log.reading, seq: 9 };
  log.pages = [{ ...log.reading, through: 7, entries }];
  revocations.onRevoked(() => {
    log.failure = new Error('away');
    return 0;
  });
  log.hint();
  await everythingThatFollows();
  t.same(log.asked.splice(0), ['read after 5', 'read after 7']);
  t.same(added, [5], 'counts are told apart by what the replica decided by');
  log.failure = undefined;
  await time.advance(leaseMs / 4);
  t.same(log.asked.at(-1), 'ack r1 9 2');
  t.same(added, [5]);
});

t.test('it counts from before it registered, however long the responses took', async (t) => {
  const { time, log, lease } = makeLease();
  log.hold();
  lease.start();
  await everythingThatFollows();
  await time.advance(200);
  log.release();
  await everythingThatFollows();
  t.equal(lease.remainingMs, leaseMs - timing.marginMs - 200);
  time.setWallForward(-3_600_000);
  t.equal(lease.remainingMs, leaseMs - timing.marginMs - 200, 'a wall clock set back makes it no longer');
});

t.test('it is renewed every quarter, and confirms again only what is new', async (t) => {
  const { time, log } = await startedLease();
  await time.advance(leaseMs / 4);
  t.same(log.asked, ['register r1 r3 1200', 'read after 5']);
  log.reading = { ...log.reading, seq: 6 };
  await time.advance(leaseMs / 4);
  t.same(log.asked.slice(2), ['register r1 r4 1200', 'read after 5', 'ack r1 6 0']);
});

t.test('what a crash of the store has undone it confirms again with its next renewal', async (t) => {
  const { time, log, revocations } = await startedLease();
  revocations.onRevoked(() => 2);
  log.reading = { ...log.reading, seq: 6, entries: [{ seq: 6, key: 'n:a', revoked: true }] };
  log.hint();
  await everythingThatFollows();
  t.same(log.asked.splice(0).at(-1), 'ack r1 6 2');
  log.reading = { ...log.reading, entries: [] };
  log.acked = 0;
  await time.advance(leaseMs / 4);
  t.same(log.asked, ['register r1 r3 1200', 'read after 6', 'ack r1 6 2'], 'nothing else has changed');
  await time.advance(leaseMs / 4);
  t.same(log.asked.slice(3), ['register r1 r4 1200', 'read after 6'], 'once');
});

t.test('a hint makes it read and confirm, and not a moment longer', async (t) => {
  const { time, log, lease } = await startedLease();
  await time.advance(100);
  const before = lease.remainingMs;
  log.reading = { ...log.reading, seq: 6 };
  log.hint();
  await everythingThatFollows();
  t.same(log.asked, ['read after 5', 'ack r1 6 0']);
  t.equal(lease.remainingMs, before);
});

t.test('a hint during a reading leads to another reading', async (t) => {
  const { log } = await startedLease();
  log.hold();
  log.hint();
  await everythingThatFollows();
  log.reading = { ...log.reading, seq: 6 };
  log.hint();
  log.hint();
  log.release();
  await everythingThatFollows();
  t.same(log.asked, ['read after 5', 'read after 5', 'ack r1 6 0']);
});

t.test('it ends by either clock', async (t) => {
  const paused = await startedLease();
  paused.time.pause(leaseMs);
  t.equal(paused.lease.holds(), false, 'the process was paused');
  const frozen = await startedLease();
  frozen.time.setWallForward(leaseMs);
  t.equal(frozen.lease.holds(), false, 'the machine was frozen, and its wall clock shows it');
});

t.test('requests that find it ended wait for one renewal that all share', async (t) => {
  const lapses: string[] = [];
  const { time, log, lease } = await startedLease({ events: { leaseLapsed: () => lapses.push('lapsed') } });
  time.pause(2 * leaseMs);
  await Promise.all([lease.renewed(), lease.renewed(), lease.renewed()]);
  t.equal(lease.holds(), true);
  t.same(
    log.asked,
    ['register r1 r3 1200', 'read after 5', 'ack r1 5 0'],
    'its row may have been taken away',
  );
  t.same(lapses, ['lapsed']);
});

t.test('a renewal that slept through its own time gives nothing', async (t) => {
  const { time, log, lease } = await startedLease();
  log.hold();
  const renewed = lease.renewed();
  await everythingThatFollows();
  time.pause(2 * leaseMs);
  log.release();
  await renewed.catch(() => undefined);
  t.equal(lease.holds(), false);
});

t.test('without the store it lasts to its end, fails fast after that, and recovers by itself', async (t) => {
  const { time, log, lease } = await startedLease();
  log.failure = new Error('away');
  await time.advance(leaseMs - timing.marginMs - 1);
  t.equal(lease.holds(), true);
  await time.advance(1);
  t.equal(lease.holds(), false);
  t.match(await rejection(lease), { code: 'unavailable', retryAfter: 1 });
  await time.advance(60_000);
  log.failure = undefined;
  await time.advance(retryPauses.longestMs);
  t.equal(lease.holds(), true);
});

t.test('a store that never responds counts as one that is away', async (t) => {
  const { time, log, lease } = await startedLease();
  log.hold();
  await time.advance(10 * leaseMs);
  t.equal(lease.holds(), false);
  t.match(await rejection(lease), { code: 'unavailable' });
  log.release();
  await time.advance(leaseMs);
  t.equal(lease.holds(), true);
});

t.test('having lost track, it forgets everything, ends every stream and comes back as another', async (t) => {
  const { time, log, view, revocations, lease } = await startedLease();
  revocations.onEnded(() => log.asked.push('end every stream'));
  view.keep('n:a', { value: 1, seq: 5, incarnation: 'i' }, 0);
  log.reading = { incarnation: 'restored', seq: 3, through: 3, floor: 1, entries: [] };
  await time.advance(leaseMs / 4);
  t.same(log.asked, [
    'register r1 r3 1200',
    'read after 5',
    'end every stream',
    'remove r1 r3',
    'register r4 r5 1200',
    'read after nothing',
    'ack r4 3 0',
  ]);
  t.equal(view.find('n:a')?.value, undefined);
  t.equal(lease.id, 'r4');
  t.equal(lease.holds(), true);
});

t.test(
  'what does not fit a page: it reads on until a page ends where its log ends, and confirms only that',
  async (t) => {
    const { time, log, view, revocations } = await startedLease();
    revocations.onRevoked((keys) => {
      log.asked.push(`end ${[...keys].join()}`);
      return keys.size;
    });
    const page = (seq: number, through: number, key: FactKey) => ({
      ...{ incarnation: 'i', floor: 1, seq, through },
      entries: [{ seq: through, key, revoked: true }],
    });
    log.pages = [page(9, 7, 'n:a'), page(12, 9, 'n:b'), page(12, 12, 'n:c')];
    log.hint();
    await everythingThatFollows();
    t.same(log.asked, [
      'read after 5',
      'end n:a',
      'read after 7',
      'end n:b',
      'read after 9',
      'end n:c',
      'ack r1 12 3',
    ]);
    t.equal(view.applied, 12);
    log.pages = [page(20, 15, 'n:a')];
    log.reading = { ...log.reading, seq: 20, through: 20 };
    log.hold();
    log.hint();
    await everythingThatFollows();
    t.equal(view.applied, 12);
    log.failure = new Error('away');
    log.release();
    await everythingThatFollows();
    log.failure = undefined;
    log.asked.length = 0;
    log.pages = [];
    await time.advance(leaseMs);
    t.match(
      log.asked.filter((asked) => !asked.startsWith('register')),
      ['read after 12', 'ack r1 20 0'],
    );
  },
);

t.test('what hangs on a key ends before others stop waiting for it, and lives until then', async (t) => {
  const streams = timingFor(leaseMs, 2_000);
  const { time, log, view, revocations } = await startedLease({ timing: streams });
  let ended = 0;
  revocations.onEnded(() => (ended += 1));
  await time.advance(10 * leaseMs);
  t.equal(ended, 0, 'while the lease is renewed');
  const renewed = time.now;
  log.failure = new Error('away');
  const decidesMs = leaseMs - timing.marginMs;
  await time.advance(decidesMs + streams.passMs - 1);
  t.same([view.mayDecide(time.clock), view.mayPass(time.clock), ended], [false, true, 0]);
  await time.advance(1);
  t.same([view.mayPass(time.clock), ended], [false, 1]);
  t.ok(1.1 * (time.now - renewed) <= leaseWaitMs(leaseMs + 2_000) * 0.9 + 1, 'with clocks a tenth off');
  log.failure = undefined;
  await time.advance(leaseMs);
  t.equal(view.mayPass(time.clock), true, 'new ones live again');
  time.pause(2 * leaseMs + 2_000);
  t.equal(view.mayPass(time.clock), false, 'a process that wakes up need not wait for its timers');
});

t.test('a renewal in time keeps what hangs on a key alive', async (t) => {
  const { time, log, revocations } = await startedLease({ timing: timingFor(leaseMs, 2_000) });
  revocations.onEnded(() => t.fail('ended'));
  log.failure = new Error('away');
  await time.advance(leaseMs + 1_000);
  log.failure = undefined;
  await time.advance(3 * leaseMs);
});

t.test('stopped, it decides no more, ends what is open and takes its row away', async (t) => {
  const { log, lease, revocations } = await startedLease();
  revocations.onEnded(() => log.asked.push('end every stream'));
  await lease.stop();
  t.equal(lease.holds(), false);
  t.same(log.asked, ['end every stream', 'remove r1 r2']);
  t.match(await rejection(lease), { code: 'unavailable' });
});

t.test(
  'hints are paced, and one pass takes in all changes since the last; renewals do not wait',
  async (t) => {
    const { time, log, lease } = await startedLease({ paceMs: 20 });
    await time.advance(20);
    for (let seq = 6; seq <= 9; seq++) {
      log.reading = { ...log.reading, seq };
      lease.hint();
      await time.advance(4);
    }
    t.same(
      log.asked.filter((question) => question.startsWith('read')),
      ['read after 5'],
      'the first at once, the others not yet',
    );
    await time.advance(10);
    t.same(log.asked, ['read after 5', 'ack r1 6 0', 'read after 6', 'ack r1 9 0']);
    lease.hint();
    await lease.renewed();
    t.match(log.asked.at(-2) ?? '', /^register/);
  },
);
