/** What every usage store reports of what was counted: of whom, by what, in which buckets and pages. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { hourMs, type UsageGranularity } from '../../src/domain/usage.ts';
import type { PageQuery } from '../../src/ports/tenant-store.ts';
import { counted, february, january, times, usageCalls, year } from '../support/counted-usage.ts';
import { newAccountId, newKeyId } from '../support/drafts.ts';
import { createParent, createSub, everyPage, problemCode } from '../support/store.ts';

export async function usageReportContract(t: Test, { tenants, usage }: Store): Promise<void> {
  const { add, report } = usageCalls(usage);

  await t.test('a report has the parent and what is under it, and no other account', async (t) => {
    const parent = (await createParent(tenants)).id;
    const other = (await createParent(tenants)).id;
    const { value: sub } = await createSub(tenants, parent, { externalId: 'e', name: 'Named' });
    const { value: idle } = await createSub(tenants, parent);
    const key = newKeyId();
    await add([parent, sub.id, other, newAccountId()].map((id) => counted(id, key, january)));
    const { rows } = await report(parent, 'total');
    t.same(
      rows.map(({ accountId }) => accountId),
      [sub.id, parent],
      'newest first',
    );
    t.match(rows[0], { name: 'Named', externalId: 'e', ...times(1) });
    t.notOk(rows.some(({ accountId }) => accountId === idle.id));
  });

  await t.test('buckets are hours, days and months in UTC, cut by the period', async (t) => {
    const parent = (await createParent(tenants)).id;
    const key = newKeyId();
    const hours = [january, january + hourMs, february, february + hourMs, Date.UTC(2025, 1, 28)];
    await add(hours.map((hour) => counted(parent, key, hour)));
    const starts = async (granularity: UsageGranularity, fromMs = year.fromMs): Promise<[number, number][]> =>
      (await report(parent, granularity, 'sub_account', { period: { ...year, fromMs } })).rows
        .map(({ periodStartMs, requests }): [number, number] => [periodStartMs, requests])
        .reverse();
    t.same(
      await starts('hour'),
      hours.map((hour) => [hour, 1]),
    );
    const days = [
      [Date.UTC(2025, 0, 31), 2],
      [february, 2],
      [Date.UTC(2025, 1, 28), 1],
    ];
    t.same(await starts('day'), days);
    t.same(await starts('month'), [
      [Date.UTC(2025, 0, 1), 2],
      [february, 3],
    ]);
    t.same(await starts('total'), [[year.fromMs, 5]]);
    t.same(await starts('month', january + hourMs), [
      [january + hourMs, 1],
      [february, 3],
    ]);
    const period = { fromMs: january + hourMs, toMs: february + hourMs };
    t.match((await report(parent, 'total', 'sub_account', { period })).rows, [times(2)]);
  });

  await t.test('grouped by key, each key has its line', async (t) => {
    const parent = (await createParent(tenants)).id;
    const keys = [newKeyId(), newKeyId()];
    await add(keys.map((key) => counted(parent, key, january)));
    t.same(
      (await report(parent, 'total', 'api_key')).rows.map(({ keyId }) => keyId),
      keys.sort().reverse(),
    );
    t.match((await report(parent, 'total')).rows, [{ keyId: null, ...times(2) }]);
  });

  await t.test('pages of any size hold the same lines', async (t) => {
    const parent = (await createParent(tenants)).id;
    const accounts = [
      parent,
      (await createSub(tenants, parent)).value.id,
      (await createSub(tenants, parent)).value.id,
    ];
    const keys = [newKeyId(), newKeyId()];
    const hours = [january, february];
    await add(accounts.flatMap((id) => keys.flatMap((key) => hours.map((hour) => counted(id, key, hour)))));
    for (const groupBy of ['sub_account', 'api_key'] as const) {
      for (const granularity of ['hour', 'month', 'total'] as const) {
        const { rows: whole } = await report(parent, granularity, groupBy);
        const list = (page: PageQuery) => report(parent, granularity, groupBy, page);
        const paged = await everyPage(list, 2, ({ position }) => position);
        t.same(paged, whole, `${granularity} by ${groupBy}`);
        t.ok(whole.length >= 3);
      }
    }
    t.equal(await problemCode(report(parent, 'hour', 'api_key', { after: 'nonsense' })), 'invalid_request');
  });
}
