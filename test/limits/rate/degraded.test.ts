/** A replica that cannot hear of the others, or not about some limits: what it says of that, and what it lets through. */
import t, { type Test } from 'tap';
import { ManualTime } from '../../support/coherence/manual-time.ts';
import { limitOf, openLimiter } from '../../support/limits/one-limiter.ts';

for (const [when, earlyMs] of [
  ['', 0],
  [', though timers go off a moment early, as those of Node do', 0.4],
] as const)
  t.test(`a replica that cannot hear of the others says so, and that it hears again${when}`, (t) =>
    cutOff(t, earlyMs),
  );

t.test('a replica whose limits are not used any more hears, too, that the store is back', async (t) => {
  let away = false;
  const time = new ManualTime();
  const { limiter } = openLimiter({
    ...{ clock: time.clock, timers: time.timers },
    board: {
      exchange: async () => (away ? Promise.reject(new Error('away')) : { nowMs: time.now, peers: [] }),
    },
    replicas: () => new Set(['a', 'b']),
  });
  limiter.start();
  const limit = [limitOf('parent', { requestsPerSecond: 100 })];
  const pass = async (seconds: number, use: boolean): Promise<void> => {
    for (let i = 0; i < seconds * 100; i++) {
      await time.advance(10);
      if (use) limiter.take(limit);
    }
  };
  await pass(2, true);
  away = true;
  await pass(2, true);
  t.equal(limiter.degraded, true);
  await pass(30, false);
  t.equal(limiter.degraded, true, 'it is not known to be back');
  away = false;
  await pass(1, false);
  t.equal(limiter.degraded, false);
  await limiter.stop();
});

t.test('a limit in a lost part of the store shows, until it is heard of or rests', async (t) => {
  let lost: string[] = [];
  const time = new ManualTime();
  const { limiter } = openLimiter({
    ...{ clock: time.clock, timers: time.timers },
    board: { exchange: async () => ({ nowMs: time.now, peers: [], unheard: new Set(lost) }) },
    replicas: () => new Set(['a', 'b']),
  });
  limiter.start();
  const limit = limitOf('parent', { requestsPerSecond: 100 });
  lost = [`parent:${limit.id}`];
  const pass = async (use: boolean): Promise<void> => {
    for (let i = 0; i < 600; i++) {
      await time.advance(10);
      if (use) limiter.take([limit]);
    }
  };
  await pass(true);
  t.equal(limiter.degraded, true);
  await pass(false);
  t.equal(limiter.degraded, false, 'it rests');
  await pass(true);
  t.equal(limiter.degraded, true);
  lost = [];
  await pass(true);
  t.equal(limiter.degraded, false, 'it is heard of');
  await limiter.stop();
});

async function cutOff(t: Test, earlyMs: number): Promise<void> {
  let away = false;
  const told: boolean[] = [];
  const time = new ManualTime();
  const { limiter } = openLimiter({
    clock: time.clock,
    timers: { after: (ms, task) => time.timers.after(Math.max(1, ms - earlyMs), task) },
    board: {
      exchange: async () => (away ? Promise.reject(new Error('away')) : { nowMs: time.now, peers: [] }),
    },
    replicas: () => new Set(['a', 'b']),
    events: { onDegraded: (degraded) => told.push(degraded) },
  });
  limiter.start();
  const limit = [limitOf('parent', { requestsPerSecond: 100 })];
  const use = async (seconds: number): Promise<number> => {
    let admitted = 0;
    for (let i = 0; i < seconds * 100; i++) {
      await time.advance(10);
      for (let n = 0; n < 2; n++) if (!limiter.take(limit).full) admitted += 1;
    }
    return admitted;
  };
  await use(5);
  away = true;
  await use(3);
  t.same(told, [true]);
  t.equal(limiter.degraded, true);
  const admitted = await use(10);
  t.ok(admitted > 900 && admitted <= 1_050, `${admitted} by its last share, which was all`);
  away = false;
  await use(1);
  t.same(told, [true, false]);
  await limiter.stop();
}
