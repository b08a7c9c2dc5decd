/** Taking from limits, in one replica. */
import t from 'tap';
import type { Limits } from '../../../src/domain/limits/limits.ts';
import { limitOf, openLimiter } from '../../support/limits/one-limiter.ts';

t.test('one replica lets through its burst and then its rate, exactly', async (t) => {
  const { time, limiter } = openLimiter();
  const limit = [limitOf('sub_account', { requestsPerSecond: 10, burst: 4 })];
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
  const { limiter } = openLimiter();
  const key = limitOf('api_key', { requestsPerSecond: 5 });
  const sub = limitOf('sub_account', { requestsPerSecond: 3, requestsPerMonth: 1 });
  const parent = limitOf('parent', { requestsPerSecond: 1 });
  t.match(limiter.take([parent, sub, key]), { full: false });
  for (let i = 0; i < 10; i++)
    t.match(limiter.take([parent, sub, key]), { full: true, kind: 'sub_account', period: 'month' });
  t.match(limiter.take([parent, key]), { full: true, kind: 'parent', period: 'second' });
  for (let i = 0; i < 4; i++) t.match(limiter.take([key]), { full: false }, 'nothing was taken of the key');
  t.match(limiter.take([parent, sub, key]), { full: true, kind: 'api_key', period: 'second' });
});

t.test('a used up quota says when the month is over', async (t) => {
  const { time, limiter } = openLimiter();
  const limit = [limitOf('parent', { requestsPerMonth: 1 })];
  limiter.take(limit);
  const result = limiter.take(limit);
  const now = new Date(time.clock.wallMs());
  const endS = (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()) / 1000;
  t.match(result, { full: true, kind: 'parent', period: 'month', retryAfterS: Math.ceil(endS) });
  await time.advance(endS * 1000 + 1);
  t.match(limiter.take(limit), { full: false }, 'a new month');
});

t.test('the scarcest of those shown is told, with what a client needs to know', async (t) => {
  const { limiter } = openLimiter();
  const key = limitOf('api_key', { requestsPerSecond: 10, burst: 50 });
  const parent = limitOf('parent', { requestsPerSecond: 2 }, false);
  t.match(limiter.take([key, parent]).scarcest, {
    ...{ kind: 'api_key', period: 'second', quota: 50, windowS: 5, remaining: 49, resetS: 1 },
  });
  limiter.take([key, parent]);
  t.match(limiter.take([key, parent]), {
    full: true,
    kind: 'parent',
    scarcest: { kind: 'api_key', remaining: 48 },
  });
  t.equal(limiter.take([limitOf('parent', { requestsPerSecond: 2 }, false)]).scarcest, null);
  t.same(limiter.take([]), { full: false, scarcest: null });
  t.equal(limiter.take([limitOf('parent', {})]).scarcest?.kind, undefined, 'limits that were taken away');
});

t.test('looking takes nothing', async (t) => {
  const { limiter } = openLimiter();
  const limits = [
    limitOf('parent', { requestsPerSecond: 2 }, false),
    limitOf('api_key', { requestsPerSecond: 5, requestsPerMonth: 9 }),
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
    const { time, limiter } = openLimiter();
    limiter.start();
    await time.advance(1);
    const admitted = (limits: Partial<Limits>) => {
      const limit = [limitOf('parent', limits)];
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
  const { limiter } = openLimiter();
  limiter.take([limitOf('parent', { requestsPerSecond: 1, burst: 100 })]);
  const limit = [limitOf('parent', { requestsPerSecond: 1, burst: 7 })];
  t.equal(Array.from({ length: 50 }, () => limiter.take(limit)).filter(({ full }) => !full).length, 7);
});

t.test(
  'limits that are full again are forgotten, what is used of quotas is added when it stops',
  async (t) => {
    const { time, limiter, added } = openLimiter();
    limiter.start();
    for (let i = 0; i < 1_000; i++)
      limiter.take([
        { ...limitOf('sub_account', { requestsPerSecond: 100, requestsPerMonth: 1e9 }), id: `s${i}` },
      ]);
    t.equal(limiter.tracked, 1_000);
    await time.advance(30_000);
    t.equal(limiter.tracked, 0);
    t.equal(added.length, 1_000);
    limiter.take([limitOf('parent', { requestsPerMonth: 1e9 })]);
    await limiter.stop();
    t.equal(added.length, 1_001);
  },
);
