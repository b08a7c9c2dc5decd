/** How every usage store counts: once, exactly, and up to which hour. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import { hourMs } from '../../src/domain/usage.ts';
import { UnusableUsage } from '../../src/ports/usage.ts';
import { counted, february, january, times, usageCalls, year } from '../support/counted-usage.ts';
import { newKeyId } from '../support/drafts.ts';
import { eventually } from '../support/eventually.ts';
import { createKey, createParent } from '../support/store.ts';

export async function usageStoreContract(t: Test, { tenants, usage }: Store): Promise<void> {
  const { add, report } = usageCalls(usage);

  await t.test('rows of a journal count once however often they are added', async (t) => {
    const parent = (await createParent(tenants)).id;
    const row = counted(parent, newKeyId(), january);
    const batch = randomUUID();
    await Promise.all([1, 2, 3].map(() => add([row, row], batch)));
    await add([row]);
    t.match((await report(parent, 'total')).rows, [
      {
        accountId: parent,
        name: 'Parent',
        externalId: null,
        keyId: null,
        periodStartMs: year.fromMs,
        ...times(3),
      },
    ]);
  });

  await t.test('counts that can never be added are told from a store that is away', async (t) => {
    const parent = (await createParent(tenants)).id;
    const good = counted(parent, newKeyId(), january);
    for (const bad of [
      { ...good, keyId: 'no UUID' as KeyId },
      { ...good, accountId: 'no UUID' as AccountId },
      { ...good, bytesIn: 1e300 },
      { ...good, reads: -1_000 },
    ])
      await t.rejects(add([good, bad]), UnusableUsage);
    t.same((await report(parent, 'total')).rows, [], 'none of a batch is added');
  });

  await t.test('counts beyond 32 bits are exact', async (t) => {
    const parent = (await createParent(tenants)).id;
    const bytesIn = 2 ** 51 + 1;
    await add([{ ...counted(parent, newKeyId(), january), bytesIn }]);
    t.match((await report(parent, 'total')).rows, [{ bytesIn }]);
  });

  await t.test(
    'a key knows when it was last used, however late its batch is, and none sets it back',
    async (t) => {
      const parent = (await createParent(tenants)).id;
      const { key } = await createKey(tenants, parent);
      const lastUsed = async (): Promise<number> =>
        (await tenants.listKeys(parent, { limit: 1 })).rows[0]?.lastUsedAt?.getTime() ?? NaN;
      const used = async (...seconds: number[]): Promise<number> => {
        await add(seconds.map((s) => counted(parent, key.id, january, january + 1000 * s)));
        return ((await lastUsed()) - january) / 1000;
      };
      t.equal(await used(1234), 1234);
      t.equal(await used(1234 + 30), 1234, 'a key in constant use is written to twice a minute');
      t.equal(await used(1300, 1299, 1234 + 31), 1300);
      t.equal(await used(7), 1300);
      await add([counted(parent, key.id, february, Date.now() + 3_600_000)]);
      t.ok((await lastUsed()) < Date.now() + 600_000, 'not in the future, by the clock of the database');
    },
  );

  await t.test('a row without requests notes that its key was used, and is in no report', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { key } = await createKey(tenants, parent);
    await add([{ ...counted(parent, key.id, january), ...times(0) }]);
    t.ok((await tenants.listKeys(parent, { limit: 1 })).rows[0]?.lastUsedAt);
    t.same((await report(parent, 'hour')).rows, []);
  });

  await t.test('rows that a journal has added already are skipped, and said to be in', async (t) => {
    const parent = (await createParent(tenants)).id;
    const journal = randomUUID();
    const rows = Array.from({ length: 5 }, () => counted(parent, newKeyId(), january));
    const addFrom = async (from: number, to: number): Promise<number> => {
      const batch = { journal, from, to, rows: rows.slice(from, to), throughMs: null };
      return (await usage.add({ ...batch, keysPerAccountHour: 200 })).rowsIn;
    };
    t.equal(await addFrom(0, 3), 3);
    t.equal(await addFrom(0, 3), 3, 'again');
    t.equal(await addFrom(1, 2), 3, 'a part of them');
    t.equal(await addFrom(2, 5), 3, 'some that are in and some that are not: none is added');
    t.equal(await addFrom(3, 5), 5, 'those that are not');
    t.match((await report(parent, 'total')).rows, [times(5)]);
  });

  await t.test('bytes and outcomes count in hours without requests of their own', async (t) => {
    const parent = (await createParent(tenants)).id;
    const row = { ...counted(parent, newKeyId(), january), ...times(0) };
    await add([
      { ...row, bytesOut: 7 },
      { ...row, hourMs: february, serverErrors: 1 },
    ]);
    t.match((await report(parent, 'hour')).rows, [
      { periodStartMs: february, requests: 0, serverErrors: 1 },
      { periodStartMs: january, requests: 0, bytesOut: 7 },
    ]);
  });

  await t.test('the store has a name and a clock', async (t) => {
    const before = Date.now();
    const { id, nowMs } = await usage.about();
    t.equal((await usage.about()).id, id);
    t.ok(Math.abs(nowMs - before) < 60_000, 'on this machine it is that of this process');
    const nothing = { from: 0, to: 0, rows: [], keysPerAccountHour: 200, throughMs: Infinity };
    const added = await usage.add({ journal: randomUUID(), ...nothing });
    t.ok(Math.abs(added.nowMs - before) < 60_000);
  });

  await t.test('a report is complete up to where the slowest replica is', async (t) => {
    const day = 86_400_000;
    const say = async (journal: string, throughMs: number | null): Promise<void> => {
      await usage.add({ journal, from: 0, to: 0, rows: [], keysPerAccountHour: 200, throughMs });
    };
    const through = async (): Promise<number> => (await usage.completeness(year, day)).throughMs;
    await say('slow', february);
    await say('quick', Date.now());
    t.equal(await through(), february);
    await say('slow', january);
    await say('slow', null);
    t.equal(await through(), february, 'it never goes back');
    t.equal((await usage.completeness(year, day)).incomplete, false);

    // Replicas of other tests have leases of up to four seconds, and the longest one counts.
    await eventually(async () => (await usage.completeness(year, 0)).incomplete);
    const lost = await usage.completeness(year, 0);
    t.ok(lost.throughMs >= Date.now() - 60_000, 'replicas that are lost hold nothing back');
    t.equal(lost.incomplete, true, 'and what they may have counted is missing');
    const before = { fromMs: Date.UTC(2024, 0, 1), toMs: january };
    t.equal((await usage.completeness(before, 0)).incomplete, false, 'before that nothing is');
    const after = { fromMs: Date.now() + 2 * hourMs, toMs: Date.now() + 3 * hourMs };
    t.equal((await usage.completeness(after, 0)).incomplete, false, 'nor when they were lost long since');

    await say('slow', Infinity);
    await say('quick', Infinity);
    const ended = await usage.completeness(year, day);
    t.ok(ended.throughMs >= Date.now() - 60_000, 'no replica has anything left to add');
    t.equal((await usage.completeness(year, 0)).incomplete, false);
  });
}
