/** What replicas tell each other of limits, in PostgreSQL, where there is much of it. */
import t from 'tap';
import { noLimits } from '../../../src/domain/limits/limits.ts';
import { SharedRateLimiter } from '../../../src/limits/rate/limiter.ts';
import { systemClock } from '../../../src/ports/clock.ts';
import { nearPage } from '../../../src/ports/limits/month-totals.ts';
import type { LimitedBy } from '../../../src/ports/limits/rate-limiter.ts';
import { systemTimers } from '../../../src/ports/timers.ts';
import { eventually } from '../../support/eventually.ts';
import { freshStore, rawSql } from '../../support/store.ts';

t.test('a new replica reads 200,000 small quotas, and hears of the others meanwhile', async (t) => {
  const quotas = 200_000;
  const { store, url } = await freshStore(t);
  const sql = rawSql(t, url);
  await sql`
    insert into limit_month (month, limit_name, used, quota, near_at)
      select month, 'sub_account:' || i, 5, 5, month + i * interval '1 microsecond'
      from generate_series(1, ${quotas}::int) i, date_trunc('month', now(), 'UTC') month`;
  await sql`analyze limit_month`;
  let read = 0;
  let largest = 0;
  let isRead = false;
  let failures = 0;
  let exchanges = 0;
  const limiter = new SharedRateLimiter({
    board: store.shareBoard,
    totals: {
      add: async (replica, batch, additions, after) => {
        const reading = await store.monthTotals.add(replica, batch, additions, after);
        read += reading.totals.length;
        largest = Math.max(largest, reading.totals.length);
        isRead ||= reading.next === null;
        return reading;
      },
    },
    clock: systemClock,
    timers: systemTimers,
    replicas: () => new Set(['a', 'b']),
    replicaId: () => 'a',
    randomId: () => 'new',
    events: {
      onMonthsFailed: () => (failures += 1),
      onDegraded: () => (failures += 1),
      onExchanged: () => (exchanges += 1),
    },
  });
  t.teardown(() => limiter.stop());
  const ask = (id: string, limits: object): boolean => {
    const by: LimitedBy = { kind: 'sub_account', id, shown: true, limits: { ...noLimits, ...limits } };
    return !limiter.take([by]).full;
  };
  const began = performance.now();
  limiter.start();
  await eventually(() => {
    ask('busy', { requestsPerSecond: 100 });
    return isRead;
  });
  const ms = performance.now() - began;
  t.comment(`read in ${Math.round(ms)} ms, ${exchanges} exchanges meanwhile, ${failures} failed calls`);
  t.ok(read >= quotas, `${read} were read`);
  t.ok(exchanges >= 2, `${exchanges} exchanges`);
  t.ok(largest <= nearPage + 10, `${largest} at once: a call is short, and its deadline far`);
  t.notOk(ask('7', { requestsPerMonth: 5 }), 'one that is used up');
  t.ok(ask('unused', { requestsPerMonth: 5 }));
});

t.test('old reports are deleted, but for those that a replica is writing', async (t) => {
  const { store, url } = await freshStore(t);
  const sql = rawSql(t, url);
  const report = { series: 1, used: 1, demand: 1, level: 1, share: 1 };
  for (const replica of ['a', 'b', 'c'])
    await store.shareBoard.exchange(replica, [{ ...report, limit: 'parent:x' }]);
  const left = async (): Promise<unknown[]> =>
    (await sql`select replica from limit_report order by 1`).map((row) => row['replica'] as unknown);
  const writer = rawSql(t, url);
  await writer.begin(async (tx) => {
    await tx`update limit_report set used = 2 where replica = 'b'`;
    await sql`select limit_report_sweep(now() + interval '1 minute')`;
    t.same(await left(), ['b']);
  });
  await sql`select limit_report_sweep(now() + interval '1 minute')`;
  t.same(await left(), []);
});
