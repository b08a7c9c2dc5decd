/** What every store has to do with what is used of quotas. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { MonthAddition, MonthReading, MonthTotals } from '../../src/ports/limits/month-totals.ts';

/** Later than any request: asks for nothing but what is added. */
const never = Date.UTC(9999, 0);

export async function monthTotalsContract(t: Test, totals: MonthTotals): Promise<void> {
  const { nowMs } = await totals.add('clock', 1, [], 0);
  const now = new Date(nowMs);
  const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const addition = (limit: string, requests: number, quota = 10_000, of = monthMs): MonthAddition => ({
    ...{ limit, requests, quota },
    monthMs: of,
  });
  const newLimit = (): string => `sub_account:${randomUUID()}`;
  const usedOf = ({ totals }: MonthReading, limit: string, of = monthMs): number | undefined =>
    totals.find((total) => total.limit === limit && total.monthMs === of)?.used;

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
    const heard = await totals.add('other', 1, [], nowMs - 1_000);
    t.equal(usedOf(heard, near), 9_000);
    t.equal(usedOf(heard, far), undefined);
    t.equal(usedOf(heard, grown), 3, 'a small one is always');
    await totals.add(randomUUID(), 1, [addition(far, 1), addition(grown, 1, 1_001)], never);
    const later = await totals.add('other', 1, [], nowMs - 1_000);
    t.equal(usedOf(later, far), 9_000);
    t.equal(usedOf(later, grown), undefined, 'its quota was raised');
    t.same((await totals.add('other', 1, [], nowMs + 3_600_000)).totals, [], 'nothing since then');
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
