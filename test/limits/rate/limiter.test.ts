// class: pure
/** Taking from limits, in one replica. */
import t from 'tap';
import { embeddedBuckets } from '../../../src/adapters/embedded/buckets.ts';
import type { Limits } from '../../../src/domain/limits/limits.ts';
import { bucketQuestion } from '../../contract/buckets.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';
import type { Taken } from '../../../src/ports/limits/rate-limiter.ts';
import { limitOf, openLimiter, respond } from '../../support/limits/one-limiter.ts';

t.test('one replica lets through its burst and then its rate, exactly', async (t) => {
  const { time, take, admitted } = openLimiter();
  const limit = [limitOf('sub_account', { requestsPerSecond: 10, burst: 4 })];
  t.equal(await admitted(limit, 20), 4);
  t.match(await take(limit), { full: true, kind: 'sub_account', period: 'second', retryAfterS: 1 });
  // The half is kept; and it is never more than the burst.
  for (const [ms, more] of [
    [100, 1],
    [250, 2],
    [50, 1],
    [60_000, 4],
  ] as const) {
    await time.advance(ms);
    t.equal(await admitted(limit, 20), more, `after ${ms} ms`);
  }
});

t.test('all are taken or none, and the first that is full is named', async (t) => {
  const { take } = openLimiter();
  const key = limitOf('api_key', { requestsPerSecond: 5 });
  const sub = limitOf('sub_account', { requestsPerSecond: 3, requestsPerMonth: 1 });
  const parent = limitOf('parent', { requestsPerSecond: 1 });
  t.match(await take([parent, sub, key]), { full: false });
  for (let i = 0; i < 10; i++)
    t.match(await take([parent, sub, key]), { full: true, kind: 'sub_account', period: 'month' });
  t.match(await take([parent, key]), { full: true, kind: 'parent', period: 'second' });
  for (let i = 0; i < 4; i++) t.match(await take([key]), { full: false }, 'nothing was taken of the key');
  t.match(await take([parent, sub, key]), { full: true, kind: 'api_key', period: 'second' });
});

t.test('nothing is taken of the others if a limit turns out to be full', async (t) => {
  const { time, limiter, take, admitted } = openLimiter();
  limiter.start();
  await time.advance(1);
  const key = limitOf('api_key', { requestsPerSecond: 9, requestsPerMonth: 9 });
  const parent = limitOf('parent', { requestsPerSecond: 2 });
  t.equal(await admitted([key, parent], 8), 2);
  t.match(await take([key, parent]), { full: true, kind: 'parent' }, 'which is the one that is named');
  t.equal(await admitted([key], 9), 7);
});

t.test('of several limits that turn out to be full the shortest of the first is named', async (t) => {
  const { take } = openLimiter();
  const limits = { requestsPerSecond: 5, requestsPerMinute: 1, requestsPerDay: 1 };
  const [sub, key] = [limitOf('sub_account', limits), limitOf('api_key', { requestsPerMinute: 1 })];
  const results = await Promise.all([take([sub]), take([sub]), take([sub, key])]);
  t.match(results, [{ full: false }, { full: true, kind: 'sub_account', period: 'minute' }, { full: true }]);
  t.match(await take([key]), { full: false });
  t.match(await take([sub, key]), { full: true, kind: 'api_key', period: 'minute' });
});

t.test('units that are given back are there for the next request', async (t) => {
  const { take } = openLimiter();
  const limit = [limitOf('parent', { requestsPerSecond: 1, requestsPerMonth: 2 })];
  const first = await take(limit);
  t.match(await take(limit), { full: true });
  if (!first.full) first.giveBack();
  t.match(await take(limit), { full: false, scarcest: { remaining: 0 } });
  t.match(await take(limit), { full: true });
});

t.test('what was taken before the end of a window is not given back to the next one', async (t) => {
  const notSent = (taken: Taken): void => taken.giveBack();
  const worthNothing = (taken: Taken): void => void taken.takeUnits(0, () => undefined);
  for (const [limits, end, looks] of [
    [{ requestsPerDay: 10 }, notSent, false],
    [{ requestsPerMonth: 10 }, notSent, false],
    [{ unitsPerMonth: 10 }, notSent, false],
    [{ unitsPerMonth: 10 }, worthNothing, false],
    [{ requestsPerDay: 10 }, notSent, true],
  ] as const) {
    const { time, take, limiter } = openLimiter();
    const limit = [limitOf('parent', limits)];
    const before = await Promise.all(Array.from({ length: 4 }, () => take(limit)));
    const now = new Date(time.clock.wallMs());
    const endMs =
      'requestsPerDay' in limits
        ? Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
        : Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    await time.advance(endMs - now.getTime() + 1);
    if (looks) await limiter.look(limit);
    const admitted = looks ? [] : [await take(limit)];
    for (const taken of before) if (!taken.full) end(taken);
    for (let i = 0; i < 30; i++) admitted.push(await take(limit));
    t.equal(admitted.filter(({ full }) => !full).length, 10, JSON.stringify(limits));
    const [own] = admitted;
    if (own?.full === false) end(own);
    t.match([await take(limit), await take(limit)], [{ full: false }, { full: true }], 'but its own is');
  }
});

t.test('tokens at hand go back to the store when they are not used, and when it stops', async (t) => {
  const time = new ManualTime();
  const buckets = embeddedBuckets(time.clock);
  const { limiter, take } = openLimiter({ clock: time.clock, timers: time.timers, buckets });
  const limit = [limitOf('parent', { requestsPerSecond: 1_000 })];
  const use = async (): Promise<void> => {
    for (let i = 0; i < 1_000; i++) {
      await time.advance(1);
      await take(limit);
    }
  };
  const left = async (): Promise<number> => {
    const question = { ...bucketQuestion('parent:parent-id:second', 1_000, 1_000), needed: 0 };
    const [answer] = await buckets.ask([question]);
    return answer === undefined || answer instanceof Error ? NaN : answer.left;
  };
  await use();
  t.ok((await left()) < 1_000, 'some are at hand');
  await time.advance(100);
  t.equal(await left(), 1_000);
  await use();
  const before = await left();
  await limiter.stop();
  const after = await left();
  t.ok(after > before, `${before} before, ${after} after`);
});

t.test('a used up quota says when the month is over', async (t) => {
  const { time, take } = openLimiter();
  const limit = [limitOf('parent', { requestsPerMonth: 1 })];
  await take(limit);
  const result = await take(limit);
  const now = new Date(time.clock.wallMs());
  const endS = (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()) / 1000;
  t.match(result, { full: true, kind: 'parent', period: 'month', retryAfterS: Math.ceil(endS) });
  await time.advance(endS * 1000 + 1);
  t.match(await take(limit), { full: false }, 'a new month');
});

t.test('a limit by the minute is a bucket that fills in a minute, one by the day a quota', async (t) => {
  const { time, take, admitted } = openLimiter();
  const limit = [limitOf('sub_account', { requestsPerMinute: 60, requestsPerDay: 100 })];
  t.equal(await admitted(limit, 80), 60);
  t.match(await take(limit), { full: true, period: 'minute', retryAfterS: 1 });
  await time.advance(10_000);
  t.equal(await admitted(limit, 80), 10);
  await time.advance(60_000);
  t.match((await take(limit)).scarcest, { period: 'day', quota: 100, remaining: 29, windowS: 86_400 });
  t.equal(await admitted(limit, 80), 29);
  t.match(await take(limit), { full: true, period: 'day' });
});

t.test('the scarcest of those shown is told, with what a client needs to know', async (t) => {
  const { take } = openLimiter();
  const key = limitOf('api_key', { requestsPerSecond: 10, burst: 50 });
  const parent = limitOf('parent', { requestsPerSecond: 2 }, false);
  t.match((await take([key, parent])).scarcest, {
    ...{ kind: 'api_key', period: 'second', quota: 50, windowS: 5, remaining: 49, resetS: 1 },
  });
  await take([key, parent]);
  t.match(await take([key, parent]), {
    full: true,
    kind: 'parent',
    scarcest: { kind: 'api_key', remaining: 48 },
  });
  t.equal((await take([limitOf('parent', { requestsPerSecond: 2 }, false)])).scarcest, null);
  t.match(await take([]), { full: false, scarcest: null });
  t.equal((await take([limitOf('parent', {})])).scarcest?.kind, undefined, 'limits that were taken away');
});

t.test('looking takes nothing', async (t) => {
  const { limiter } = openLimiter();
  const limits = [
    limitOf('parent', { requestsPerSecond: 2 }, false),
    limitOf('api_key', { requestsPerSecond: 5, requestsPerMonth: 9 }),
  ];
  for (let i = 0; i < 5; i++)
    t.same(
      (await limiter.look(limits)).map(({ kind, period, remaining }) => [kind, period, remaining]),
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
    const { time, limiter, take, admitted: admittedBy } = openLimiter();
    limiter.start();
    await time.advance(1);
    const admitted = (limits: Partial<Limits>) => admittedBy([limitOf('parent', limits)], 500);
    t.equal(await admitted({ requestsPerSecond: 1, burst: 10 }), 10);
    t.equal(await admitted({ requestsPerSecond: 1, burst: 30 }), 0, 'a larger burst is not there at once');
    await time.advance(20_000);
    t.equal(await admitted({ requestsPerSecond: 1, burst: 30 }), 20, 'it fills at the rate');
    t.equal(await admitted({ requestsPerSecond: 1, burst: 5 }), 0);
    t.equal(await admitted({ requestsPerMonth: 4 }), 4);
    t.equal(await admitted({ requestsPerMonth: 3 }), 0);
    t.equal(await admitted({ requestsPerMonth: 6 }), 2);
    t.equal(await admitted({}), 500, 'no limit any more');
    await take([limitOf('sub_account', { requestsPerSecond: 1, burst: 100 })]);
    const cut = [limitOf('sub_account', { requestsPerSecond: 1, burst: 7 })];
    t.equal(await admittedBy(cut, 50), 7, 'the burst of a bucket that rested is cut');
  },
);

t.test('limits that are not used are forgotten, and what was used of them is not', async (t) => {
  const { time, limiter, take } = openLimiter();
  limiter.start();
  const of = limitOf('sub_account', { requestsPerSecond: 100, requestsPerMonth: 2 });
  for (let i = 0; i < 1_000; i++) respond(await take([{ ...of, id: `s${i}` }]));
  t.equal(limiter.tracked, 1_000);
  await time.advance(30_000);
  t.equal(limiter.tracked, 0);
  const limit = [{ ...of, id: 's0' }];
  t.match(await take(limit), { full: false, scarcest: { remaining: 0 } });
  t.match(await take(limit), { full: true, period: 'month' });
});

t.test('quotas near their end are counted while they are used', async (t) => {
  const { time, limiter, take } = openLimiter();
  limiter.start();
  const limit = [limitOf('parent', { requestsPerMonth: 20 })];
  for (let i = 0; i < 17; i++) respond(await take(limit));
  t.equal(limiter.quotasNearEnd, 0);
  respond(await take(limit));
  t.equal(limiter.quotasNearEnd, 1);
  await time.advance(30_000);
  t.equal(limiter.quotasNearEnd, 0);
});
