// class: pure
import t from 'tap';
import { calendarWindow } from '../../../src/domain/limits/limits.ts';
import type { TokenAnswer, TokenQuestion } from '../../../src/ports/limits/token-store.ts';
import { limitOf, openLimiter } from '../../support/limits/one-limiter.ts';

t.test('a quota has the window of the calendar before the store has answered', async (t) => {
  for (const [limits, most] of [
    [{ requestsPerDay: 1_000 }, 24 * 3600],
    [{ requestsPerMonth: 1_000 }, 31 * 24 * 3600],
  ] as const) {
    const { time, take } = openLimiter({ quotas: { ask: () => new Promise(() => undefined) } });
    const taken = take([limitOf('sub_account', limits)]);
    await time.advance(1_000);
    const { full, scarcest: state } = await taken;
    t.notOk(full);
    t.ok(state && state.windowS >= 24 * 3600 && state.windowS <= most, `window ${state?.windowS}`);
    t.ok(state && state.resetS >= 1 && state.resetS <= state.windowS, `reset ${state?.resetS}`);
  }
});

t.test('a calendar window contains its time, and ends at midnight UTC', (t) => {
  for (const [at, day, month, days] of [
    ['2026-02-28T23:59:59.999Z', '2026-03-01', '2026-03-01', 28],
    ['2028-02-29T00:00:00.000Z', '2028-03-01', '2028-03-01', 29],
    ['2026-12-31T12:00:00Z', '2027-01-01', '2027-01-01', 31],
    ['1999-11-14T23:00:00Z', '1999-11-15', '1999-12-01', 30],
  ] as const) {
    const nowMs = Date.parse(at);
    const ends = (end: string, long: number) => ({
      endsInMs: Date.parse(end) - nowMs,
      lengthMs: long * 86_400_000,
    });
    t.match(calendarWindow('day', nowMs), ends(day, 1), at);
    t.match(calendarWindow('month', nowMs), ends(month, days), at);
  }
  t.end();
});

t.test('a look waits for the query that is under way, which knows more', async (t) => {
  const calls = { all: 0, open: 0, mostOpen: 0 };
  const ask = async (questions: readonly TokenQuestion[]): Promise<readonly TokenAnswer[]> => {
    calls.all += 1;
    calls.open += 1;
    calls.mostOpen = Math.max(calls.mostOpen, calls.open);
    await new Promise<void>((resolve) => void world.time.timers.after(10, resolve));
    calls.open -= 1;
    return world.quotas.answer('a', questions);
  };
  const world = openLimiter({ quotas: { ask } });
  const limit = [limitOf('parent', { requestsPerMonth: 5 })];
  const taken = Array.from({ length: 4 }, () => world.take(limit));
  await world.time.advance(5);
  const looked = world.limiter.look(limit);
  await world.time.advance(100);
  t.match(
    await Promise.all(taken),
    Array.from({ length: 4 }, () => ({ full: false })),
  );
  t.match(await looked, [{ remaining: 1 }]);
  t.same(calls, { all: 2, open: 0, mostOpen: 1 });
});
