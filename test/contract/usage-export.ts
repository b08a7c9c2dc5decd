/** What every store does of the export of usage. To be run before anything was exported from it. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { ExportedUsage } from '../../src/domain/usage-event.ts';
import { hourMs } from '../../src/domain/usage.ts';
import type { ExportLock } from '../../src/ports/usage/export.ts';
import { createParent, createSub } from '../support/store.ts';
import { addUsage, usageRow } from '../support/usage-rows.ts';

const may = Date.UTC(2025, 4, 1);

export async function usageExportContract(t: Test, store: Store): Promise<void> {
  const { tenants, usage, usageExport } = store;
  const day = 86_400_000;
  const lock: ExportLock = { holder: randomUUID(), leaseMs: 60_000, delayMs: 0, lostAfterMs: day };
  const other: ExportLock = { ...lock, holder: randomUUID() };
  const journal = randomUUID();
  /** A replica that has nothing from before `ms` left to add. */
  const through = async (ms: number): Promise<void> => {
    await usage.add({ journal, from: 0, to: 0, rows: [], keysPerAccountHour: 200, throughMs: ms });
  };
  const add = (id: AccountId, ms: number, requests: number, keyId: string = randomUUID()): Promise<void> =>
    addUsage({ store }, [usageRow(id, ms, { keyId, requests, reads: requests, bytesOut: 10 * requests })]);
  const all = { after: 0, fromMs: -Infinity, toMs: Infinity, most: 100 };
  const inHour = async (ms: number): Promise<[AccountId, number][]> =>
    (await usageExport.hour(ms, null, 1_000)).rows.map(({ accountId, requests }) => [accountId, requests]);

  const { id: parent } = await createParent(tenants);
  const { id: sub } = (await createSub(tenants, parent, { externalId: 'ada' })).value;
  await createSub(tenants, parent);

  await t.test(
    'one replica at a time holds the lock, until it ends or was silent for too long',
    async (t) => {
      t.equal(await usageExport.closedUntil(), -Infinity);
      await through(may + 30 * 60_000);
      t.same(await usageExport.begin(lock), {
        mine: true,
        position: { hourMs: may, after: null, corrections: 0 },
        closedUntilMs: may,
        beganMs: may,
      });
      t.match(await usageExport.begin(other), { mine: false, position: { hourMs: may } });
      const position = { hourMs: may, after: sub, corrections: 0 };
      t.equal(await usageExport.advance(other, position), false);
      t.equal(await usageExport.advance(lock, position), true);
      t.match(await usageExport.begin(lock), { mine: true, position });
      await usageExport.end(other.holder);
      t.match(await usageExport.begin(other), { mine: false });
      await usageExport.end(lock.holder);
      t.match(await usageExport.begin({ ...other, leaseMs: -1 }), { mine: true, position }, 'where it was');
      t.match(await usageExport.begin(lock), { mine: true }, 'a lock that has run out is another replica’s');
      t.equal(await usageExport.advance(other, { ...position, after: null }), false);
      await usageExport.advance(lock, { hourMs: may, after: null, corrections: 0 });
    },
  );

  await t.test('an hour is closed once it is complete, and over for as long as it should be', async (t) => {
    await through(may + 2 * hourMs - 1);
    t.match(await usageExport.begin(lock), { closedUntilMs: may + hourMs });
    await through(Date.now() + day);
    const now = Date.now();
    const { closedUntilMs } = await usageExport.begin({ ...lock, delayMs: 1000 * hourMs });
    t.ok(Math.abs(closedUntilMs - (now - 1000 * hourMs)) <= 2 * hourMs);
    const again = await usageExport.begin({ ...lock, delayMs: 2000 * hourMs });
    t.equal(again.closedUntilMs, closedUntilMs, 'it does not open again');
    t.equal(await usageExport.closedUntil(), closedUntilMs);
    t.equal(again.beganMs, may);
  });

  await t.test('an hour has one row for each account, however many keys it used', async (t) => {
    const { closedUntilMs: open } = await usageExport.begin({ ...lock, delayMs: 500 * hourMs });
    for (const requests of [1, 2]) await add(sub, open, requests);
    await add(parent, open, 7);
    t.same((await usageExport.hour(open, null, 1_000)).rows, [
      row({ accountId: parent, parentId: parent, externalId: null, hourMs: open }, 7),
      row({ accountId: sub, parentId: parent, externalId: 'ada', hourMs: open }, 3),
    ]);
    t.same((await usageExport.hour(open, parent, 1_000)).rows.length, 1);
    // Parents without usage come before, between and after those with it.
    await createParent(tenants);
    const later = await createParent(tenants);
    const child = (await createSub(tenants, later.id)).value;
    await createParent(tenants);
    await add(child.id, open, 4);
    const inAll = await inHour(open);
    t.equal(inAll.length, 3);
    for (const most of [1, 2, 3, 5]) {
      const inPages: [AccountId, number][] = [];
      let after: AccountId | null = null;
      do {
        const page: Awaited<ReturnType<typeof usageExport.hour>> = await usageExport.hour(open, after, most);
        t.ok(page.rows.length <= most);
        inPages.push(
          ...page.rows.map(({ accountId, requests }): [AccountId, number] => [accountId, requests]),
        );
        after = page.next;
      } while (after !== null);
      t.same(inPages, inAll, `pages of ${most} together have each account once`);
    }
  });

  await t.test(
    'what comes to a closed hour is a correction, and the hour stays as it was exported',
    async (t) => {
      const { closedUntilMs: open } = await usageExport.begin({ ...lock, delayMs: 400 * hourMs });
      const key = randomUUID();
      await add(sub, open, 5, key);
      await usageExport.begin({ ...lock, delayMs: 300 * hourMs });
      const before = (await usageExport.corrections(all)).length;
      await add(sub, open, 2, key);
      await add(sub, open, 1);
      await add(parent, open, 4);
      t.equal(
        (await usageExport.corrections(all)).length,
        before,
        'none of them is made while more may come',
      );
      await usageExport.begin(lock);
      t.same(await inHour(open), [[sub, 5]]);
      const query = { ...all, fromMs: open, toMs: open + hourMs };
      const made = await usageExport.corrections(query);
      t.match(
        made.map((each) => [each.accountId, each.requests, each.bytesOut, each.hourMs]).sort(),
        [
          [parent, 4, 40, open],
          [sub, 3, 30, open],
        ].sort(),
      );
      t.match(
        made.find(({ accountId }) => accountId === sub),
        { parentId: parent, externalId: 'ada' },
      );

      await add(sub, open, 1);
      await usageExport.begin(lock);
      const later = await usageExport.corrections({ ...query, after: made.at(-1)?.number ?? 0 });
      t.match(later, [{ accountId: sub, requests: 1 }], 'a later one is another');
      t.same((await usageExport.corrections(query)).slice(0, 2), made, 'and those before do not change');
      t.same(await inHour(open), [[sub, 5]]);
      t.equal(new Set([...made, ...later].map(({ correction }) => correction)).size, 3);
      t.equal((await usageExport.corrections({ ...query, most: 1 })).length, 1);
    },
  );
  await through(Infinity);
  await usageExport.end(lock.holder);
}

function row(
  about: Pick<ExportedUsage, 'accountId' | 'parentId' | 'externalId' | 'hourMs'>,
  requests: number,
): ExportedUsage {
  const none = { writes: 0, clientErrors: 0, serverErrors: 0, bytesIn: 0, units: 0 };
  return { ...about, correction: null, requests, reads: requests, ...none, bytesOut: 10 * requests };
}
