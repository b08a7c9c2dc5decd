/** What every store has to do with what is used of quotas. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import {
  nearPage,
  type MonthAddition,
  type MonthReading,
  type MonthTotal,
  type NearAfter,
} from '../../src/ports/limits/month-totals.ts';
import { createParent, createSub } from '../support/store.ts';

const since = (ms: number): NearAfter => ({ at: new Date(ms).toISOString() });
/** Later than any request: asks for nothing but what is added. */
const never = since(Date.UTC(9999, 0));

export async function monthTotalsContract(
  t: Test,
  { monthTotals: totals, tenants }: Pick<Store, 'monthTotals' | 'tenants'>,
): Promise<void> {
  const { nowMs } = await totals.add('clock', 1, [], never);
  const now = new Date(nowMs);
  const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const addition = (limit: string, requests: number, quota = 10_000, of = monthMs): MonthAddition => ({
    ...{ limit, requests, quota },
    monthMs: of,
  });
  const newLimit = (): string => `sub_account:${randomUUID()}`;
  /** Every page from there on. */
  const readAll = async (after: NearAfter): Promise<MonthReading> => {
    const all: MonthTotal[] = [];
    for (;;) {
      const reading = await totals.add('other', 1, [], after);
      all.push(...reading.totals);
      if (reading.next === null) return { ...reading, totals: all };
      after = reading.next;
    }
  };
  const usedOf = ({ totals }: MonthReading, limit: string, of = monthMs): number | undefined =>
    totals.findLast((total) => total.limit === limit && total.monthMs === of)?.used;

  await t.test('the time is the present one', (t) => {
    t.ok(Math.abs(nowMs - Date.now()) < 60_000);
    t.end();
  });

  await t.test('replicas add to one total, each batch once', async (t) => {
    const limit = newLimit();
    const [a, b] = [randomUUID(), randomUUID()];
    t.equal(usedOf(await totals.add(a, 1, [addition(limit, 5)], never), limit), 5);
    t.equal(usedOf(await totals.add(b, 1, [addition(limit, 7)], never), limit), 12);
    t.equal(usedOf(await totals.add(a, 1, [addition(limit, 5)], never), limit), 12, 'the response was lost');
    t.equal(usedOf(await totals.add(a, 2, [addition(limit, 1)], never), limit), 13);
    t.equal(usedOf(await totals.add(a, 1, [addition(limit, 5)], never), limit), 13, 'an old one comes late');
  });

  await t.test('months are apart', async (t) => {
    const limit = newLimit();
    const last = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1);
    const reading = await totals.add(
      randomUUID(),
      1,
      [addition(limit, 3), addition(limit, 4, 10_000, last)],
      never,
    );
    t.equal(usedOf(reading, limit), 3);
    t.equal(usedOf(reading, limit, last), 4);
  });

  await t.test('every replica hears of the quotas near their end, as they are now', async (t) => {
    const [near, far, grown] = [newLimit(), newLimit(), newLimit()];
    const additions = [addition(near, 9_000), addition(far, 8_999), addition(grown, 3, 1_000)];
    await totals.add(randomUUID(), 1, additions, never);
    const heard = await totals.add('other', 1, [], since(nowMs - 1_000));
    t.equal(usedOf(heard, near), 9_000);
    t.equal(usedOf(heard, far), undefined);
    t.equal(usedOf(heard, grown), 3, 'a small one is always');
    await totals.add(randomUUID(), 1, [addition(far, 1), addition(grown, 1, 1_001)], never);
    const later = await totals.add('other', 1, [], since(nowMs - 1_000));
    t.equal(usedOf(later, far), 9_000);
    t.equal(usedOf(later, grown), undefined, 'its quota was raised');
    t.same((await totals.add('other', 1, [], since(nowMs + 3_600_000))).totals, [], 'nothing since then');
  });

  await t.test('a changed quota is near its end by what was used, whatever replicas add late', async (t) => {
    const parent = (await createParent(tenants)).id;
    const sub = (await createSub(tenants, parent, { limits: { requestsPerMonth: 1_000_000 } })).value.id;
    const [ofParent, ofSub] = [`parent:${parent}`, `sub_account:${sub}`];
    const near = async (limit: string): Promise<number | undefined> =>
      usedOf(await readAll(since(nowMs - 1_000)), limit);
    await totals.add(randomUUID(), 1, [addition(ofSub, 5_000, 1_000_000)], never);
    t.equal(await near(ofSub), undefined);
    await tenants.updateSubAccount(parent, sub, { limits: { requestsPerMonth: 2_000 } });
    t.equal(await near(ofSub), 5_000, 'it was lowered');
    await totals.add(randomUUID(), 1, [addition(ofSub, 7, 1_000_000)], never);
    t.equal(await near(ofSub), 5_007, 'a replica adds what it let through under the old one');
    await tenants.updateSubAccount(parent, sub, { limits: { requestsPerMonth: 1_000_000 } });
    t.equal(await near(ofSub), undefined, 'it was raised');
    await totals.add(randomUUID(), 1, [addition(ofSub, 1, 2_000)], never);
    t.equal(await near(ofSub), undefined);
    await tenants.updateSubAccount(parent, sub, { limits: { requestsPerMonth: 5_000 } });
    await tenants.updateSubAccount(parent, sub, { limits: { requestsPerMonth: null } });
    t.equal(await near(ofSub), undefined, 'it was taken away');
    await tenants.updateSubAccount(parent, sub, { limits: { requestsPerMonth: 5_000 } });
    t.equal(await near(ofSub), 5_008, 'and set again');
    await tenants.updateParent(parent, { limits: { requestsPerMonth: 7 } });
    t.equal(await near(ofParent), 0, 'one of which nothing was used');
    await totals.add(randomUUID(), 1, [addition(ofParent, 3, 7)], never);
    t.equal(await near(ofParent), 3);
  });

  await t.test('those near their end are read in pages, and none is passed over', async (t) => {
    const limits = Array.from({ length: nearPage + 10 }, newLimit);
    const from = (await totals.add(randomUUID(), 1, [], never)).nowMs;
    const replica = randomUUID();
    await totals.add(
      replica,
      1,
      limits.map((limit) => addition(limit, 1, 10)),
      never,
    );
    const first = await totals.add('other', 1, [], since(from - 1));
    t.equal(first.totals.length, nearPage);
    // Those of the first page move to the end.
    const moved = limits.slice(0, 20);
    await totals.add(
      replica,
      2,
      moved.map((limit) => addition(limit, 1, 10)),
      never,
    );
    const rest = await readAll(first.next ?? never);
    t.equal(rest.next, null);
    const read = new Map([...first.totals, ...rest.totals].map(({ limit, used }) => [limit, used]));
    t.same(
      limits.filter((limit, i) => read.get(limit) !== (i < moved.length ? 2 : 1)),
      [],
    );
  });

  await t.test('many at once, in any order', async (t) => {
    const limits = Array.from({ length: 200 }, newLimit);
    const additions = limits.map((limit) => addition(limit, 1));
    await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        totals.add(randomUUID(), 1, i % 2 === 0 ? additions : additions.toReversed(), never),
      ),
    );
    const reading = await totals.add(randomUUID(), 1, additions, never);
    t.ok(limits.every((limit) => usedOf(reading, limit) === 7));
  });
}
