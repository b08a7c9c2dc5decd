/** Taking from limits, in one replica. */
import t, { type Test } from 'tap';
import { noLimits, type LimitKind, type Limits } from '../../../src/domain/limits/limits.ts';
import { SharedRateLimiter, type LimiterParts } from '../../../src/limits/rate/limiter.ts';
import type { LimitedBy } from '../../../src/ports/limits/rate-limiter.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';

function open(parts: Partial<LimiterParts> = {}) {
  const time = new ManualTime();
  const added: number[] = [];
  const limiter = new SharedRateLimiter({
    board: null,
    totals: {
      add: async (_replica, _batch, additions) => {
        added.push(...additions.map(({ requests }) => requests));
        return { nowMs: time.clock.wallMs(), totals: [], next: null };
      },
    },
    clock: time.clock,
    timers: time.timers,
    replicas: () => new Set(['a']),
    replicaId: () => 'a',
    randomId: () => 'm',
    ...parts,
  });
  return { time, limiter, added };
}

function by(kind: LimitKind, limits: Partial<Limits>, shown = true): LimitedBy {
  return { kind, id: `${kind}-id`, limits: { ...noLimits, ...limits }, shown };
}

t.test('one replica lets through its burst and then its rate, exactly', async (t) => {
  const { time, limiter } = open();
  const limit = [by('sub_account', { requestsPerSecond: 10, burst: 4 })];
  const admitted = () =>
    Array.from({ length: 20 }, () => limiter.take(limit)).filter(({ full }) => !full).length;
  t.equal(admitted(), 4);
  t.match(limiter.take(limit), { full: true, kind: 'sub_account', period: 'second', retryAfterS: 1 });
  await time.advance(100);
  t.equal(admitted(), 1);
  await time.advance(250);
  t.equal(admitted(), 2);
  await time.advance(50);
  t.equal(admitted(), 1, 'the half is kept');
  await time.advance(60_000);
  t.equal(admitted(), 4, 'never more than the burst');
});

t.test('all are taken or none, and the first that is full is named', async (t) => {
  const { limiter } = open();
  const key = by('api_key', { requestsPerSecond: 5 });
  const sub = by('sub_account', { requestsPerSecond: 3, requestsPerMonth: 1 });
  const parent = by('parent', { requestsPerSecond: 1 });
  t.match(limiter.take([parent, sub, key]), { full: false });
  for (let i = 0; i < 10; i++)
    t.match(limiter.take([parent, sub, key]), { full: true, kind: 'sub_account', period: 'month' });
  t.match(limiter.take([parent, key]), { full: true, kind: 'parent', period: 'second' });
  for (let i = 0; i < 4; i++) t.match(limiter.take([key]), { full: false }, 'nothing was taken of the key');
  t.match(limiter.take([parent, sub, key]), { full: true, kind: 'api_key', period: 'second' });
});

t.test('a used up quota says when the month is over', async (t) => {
  const { time, limiter } = open();
  const limit = [by('parent', { requestsPerMonth: 1 })];
  limiter.take(limit);
  const result = limiter.take(limit);
  const now = new Date(time.clock.wallMs());
  const endS = (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()) / 1000;
  t.match(result, { full: true, kind: 'parent', period: 'month', retryAfterS: Math.ceil(endS) });
  await time.advance(endS * 1000 + 1);
  t.match(limiter.take(limit), { full: false }, 'a new month');
});

t.test('the scarcest of those shown is told, with what a client needs to know', async (t) => {
  const { limiter } = open();
  const key = by('api_key', { requestsPerSecond: 10, burst: 50 });
  const parent = by('parent', { requestsPerSecond: 2 }, false);
  t.match(limiter.take([key, parent]).scarcest, {
    ...{ kind: 'api_key', period: 'second', quota: 50, windowS: 5, remaining: 49, resetS: 1 },
  });
  limiter.take([key, parent]);
  t.match(limiter.take([key, parent]), {
    full: true,
    kind: 'parent',
    scarcest: { kind: 'api_key', remaining: 48 },
  });
  t.equal(limiter.take([by('parent', { requestsPerSecond: 2 }, false)]).scarcest, null);
  t.same(limiter.take([]), { full: false, scarcest: null });
  t.equal(limiter.take([by('parent', {})]).scarcest?.kind, undefined, 'limits that were taken away');
});

t.test('looking takes nothing', async (t) => {
  const { limiter } = open();
  const limits = [
    by('parent', { requestsPerSecond: 2 }, false),
    by('api_key', { requestsPerSecond: 5, requestsPerMonth: 9 }),
  ];
  for (let i = 0; i < 5; i++)
    t.same(
      limiter.look(limits).map(({ kind, period, remaining }) => [kind, period, remaining]),
      [
        ['api_key', 'second', 5],
        ['api_key', 'month', 9],
        ['parent', 'second', 2],
      ],
    );
});

t.test(
  'a changed limit acts at once: never more than the new burst, and what was used stays used',
  async (t) => {
    const { time, limiter } = open();
    limiter.start();
    await time.advance(1);
    const admitted = (limits: Partial<Limits>) => {
      const limit = [by('parent', limits)];
      return Array.from({ length: 500 }, () => limiter.take(limit)).filter(({ full }) => !full).length;
    };
    t.equal(admitted({ requestsPerSecond: 1, burst: 10 }), 10);
    t.equal(admitted({ requestsPerSecond: 1, burst: 30 }), 0, 'a larger burst is not there at once');
    await time.advance(20_000);
    t.equal(admitted({ requestsPerSecond: 1, burst: 30 }), 20, 'it fills at the rate');
    t.equal(admitted({ requestsPerSecond: 1, burst: 5 }), 0);
    t.equal(admitted({ requestsPerMonth: 4 }), 4);
    t.equal(admitted({ requestsPerMonth: 3 }), 0);
    t.equal(admitted({ requestsPerMonth: 6 }), 2);
    t.equal(admitted({}), 500, 'no limit any more');
  },
);

t.test('a cut burst of a rested bucket is cut', async (t) => {
  const { limiter } = open();
  limiter.take([by('parent', { requestsPerSecond: 1, burst: 100 })]);
  const limit = [by('parent', { requestsPerSecond: 1, burst: 7 })];
  t.equal(Array.from({ length: 50 }, () => limiter.take(limit)).filter(({ full }) => !full).length, 7);
});

t.test(
  'limits that are full again are forgotten, what is used of quotas is added when it stops',
  async (t) => {
    const { time, limiter, added } = open();
    limiter.start();
    for (let i = 0; i < 1_000; i++)
      limiter.take([
        { ...by('sub_account', { requestsPerSecond: 100, requestsPerMonth: 1e9 }), id: `s${i}` },
      ]);
    t.equal(limiter.tracked, 1_000);
    await time.advance(30_000);
    t.equal(limiter.tracked, 0);
    t.equal(added.length, 1_000);
    limiter.take([by('parent', { requestsPerMonth: 1e9 })]);
    await limiter.stop();
    t.equal(added.length, 1_001);
  },
);

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
  const { limiter } = open({
    ...{ clock: time.clock, timers: time.timers },
    board: {
      exchange: async () => (away ? Promise.reject(new Error('away')) : { nowMs: time.now, peers: [] }),
    },
    replicas: () => new Set(['a', 'b']),
  });
  limiter.start();
  const limit = [by('parent', { requestsPerSecond: 100 })];
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
  const { limiter } = open({
    ...{ clock: time.clock, timers: time.timers },
    board: { exchange: async () => ({ nowMs: time.now, peers: [], unheard: new Set(lost) }) },
    replicas: () => new Set(['a', 'b']),
  });
  limiter.start();
  const limit = by('parent', { requestsPerSecond: 100 });
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
  const { limiter } = open({
    clock: time.clock,
    timers: { after: (ms, task) => time.timers.after(Math.max(1, ms - earlyMs), task) },
    board: {
      exchange: async () => (away ? Promise.reject(new Error('away')) : { nowMs: time.now, peers: [] }),
    },
    replicas: () => new Set(['a', 'b']),
    events: { onDegraded: (degraded) => told.push(degraded) },
  });
  limiter.start();
  const limit = [by('parent', { requestsPerSecond: 100 })];
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
