/** How every usage store bounds the keys that have usage of their own in an account and hour. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import { hourMs } from '../../src/domain/usage.ts';
import type { PageQuery } from '../../src/ports/tenant-store.ts';
import { counted, january, times, usageCalls } from '../support/counted-usage.ts';
import { newKeyId } from '../support/drafts.ts';
import { createKey, createParent, createSub, everyPage } from '../support/store.ts';

const most = 3;

/** Key of the row that keys share. */
const nil = '00000000-0000-0000-0000-000000000000' as KeyId;

export async function usageSharedKeysContract(t: Test, { tenants, usage }: Store): Promise<void> {
  const { add, report } = usageCalls(usage);
  const use = (account: AccountId, keys: readonly KeyId[], hour = january): Promise<void> =>
    add(
      keys.map((key) => counted(account, key, hour)),
      undefined,
      most,
    );
  /** Keys of a parent and the requests of each, in the order of the report. */
  const byKey = async (parent: AccountId): Promise<[KeyId | null, number][]> =>
    (await report(parent, 'hour', 'api_key')).rows.map(({ keyId, requests }) => [keyId, requests]);
  const newKeys = (): KeyId[] => Array.from({ length: 5 }, () => newKeyId()).sort();

  await t.test('keys beyond the bound share a row, and the sums stay exact', async (t) => {
    const parent = (await createParent(tenants)).id;
    const [a, b, c, d, e] = newKeys() as [KeyId, KeyId, KeyId, KeyId, KeyId];
    await use(parent, [b, d]);
    await use(parent, [e, c, a, b]);
    t.same(
      await byKey(parent),
      [
        [d, 1],
        [b, 2],
        [a, 1],
        [nil, 2],
      ],
      'the first of the new keys, in order, gets the last row',
    );
    t.match((await report(parent, 'hour', 'api_key')).rows.at(-1), { keyId: nil, ...times(2) });
    t.match((await report(parent, 'total')).rows, [times(6)]);
    t.match((await report(null, 'total', 'account', { account: parent })).rows, [times(6)]);
  });

  await t.test('a key that has a row keeps it, and none gets one later', async (t) => {
    const parent = (await createParent(tenants)).id;
    const [a, b, c, d, e] = newKeys() as [KeyId, KeyId, KeyId, KeyId, KeyId];
    await use(parent, [c, d, e]);
    for (let i = 0; i < 2; i++) await use(parent, [a, b, c, d, e]);
    t.same(await byKey(parent), [
      [e, 3],
      [d, 3],
      [c, 3],
      [nil, 4],
    ]);
    await add([counted(parent, d, january), counted(parent, a, january)], undefined, 1);
    t.match(await byKey(parent), [[e], [d, 4], [c], [nil, 5]], 'also with a lower bound');
  });

  await t.test('another hour and another account have rows of their own', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { value: sub } = await createSub(tenants, parent);
    const keys = newKeys();
    const [first, ...rest] = keys as [KeyId, ...KeyId[]];
    await use(parent, keys);
    await add(
      [
        ...rest.slice(0, most).map((key) => counted(parent, key, january + hourMs)),
        ...rest.slice(0, most).map((key) => counted(sub.id, key, january)),
        counted(parent, first, january),
      ],
      undefined,
      most,
    );
    const { rows } = await report(parent, 'hour', 'api_key');
    const keysOf = (account: AccountId, at: number): (KeyId | null)[] =>
      rows.flatMap(({ accountId, periodStartMs, keyId }) =>
        accountId === account && periodStartMs === at ? [keyId] : [],
      );
    t.same(keysOf(parent, january + hourMs), rest.slice(0, most).reverse());
    t.same(keysOf(sub.id, january), rest.slice(0, most).reverse());
    t.same(keysOf(parent, january), [...keys.slice(0, most).reverse(), nil]);
  });

  await t.test('pages of any size go on behind the shared row', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { value: sub } = await createSub(tenants, parent);
    const hours = [january, january + hourMs];
    const rows = [parent, sub.id].flatMap((account) =>
      hours.flatMap((hour) => newKeys().map((key) => counted(account, key, hour))),
    );
    await add(rows, undefined, most);
    for (const granularity of ['hour', 'month'] as const) {
      const { rows: whole } = await report(parent, granularity, 'api_key');
      const shared = whole.filter(({ keyId }) => keyId === nil);
      t.match(shared, granularity === 'hour' ? Array(4).fill(times(2)) : Array(2).fill(times(4)));
      t.equal(whole.length - shared.length, 4 * most, 'each account and hour has as many keys');
      for (const limit of [1, 2, most + 1]) {
        const list = (page: PageQuery) => report(parent, granularity, 'api_key', page);
        const paged = await everyPage(list, limit, ({ position }) => position);
        t.same(paged, whole, `${granularity}, ${limit} a page`);
      }
    }
  });

  await t.test('late counts are added to the same rows of the day as of the hour', async (t) => {
    const parent = (await createParent(tenants)).id;
    const [a, b, c, d, e] = newKeys() as [KeyId, KeyId, KeyId, KeyId, KeyId];
    await use(parent, [b]);
    while (await usage.rollUp());
    await use(parent, [e, d, c, b, a]);
    await use(parent, [a, c], january - hourMs);
    const byDay = (await report(parent, 'day', 'api_key')).rows.map(({ keyId, requests }) => [
      keyId,
      requests,
    ]);
    t.same(byDay, [
      [c, 2],
      [b, 2],
      [a, 2],
      [nil, 2],
    ]);
  });

  await t.test(
    'a key that shares a row is noted as used, and its writes by default are its own',
    async (t) => {
      const parent = (await createParent(tenants)).id;
      await use(
        parent,
        ['1', '2', '3'].map((n) => `0000000${n}-0000-7000-8000-000000000000` as KeyId),
      );
      const { key } = await createKey(tenants, parent);
      const atMs = Math.floor(Date.now() / hourMs) * hourMs;
      const row = {
        ...counted(parent, key.id, january, atMs),
        writesByDefault: 7,
        lastWriteByDefaultMs: atMs,
      };
      await add([row], undefined, most);
      t.same((await byKey(parent)).at(-1), [nil, 1]);
      t.equal((await tenants.listKeys(parent, { limit: 1 })).rows[0]?.lastUsedAt?.getTime(), atMs);
      const since = Date.UTC(2025, 0, 31);
      t.match((await usage.writesByDefault(parent, since)).keys, [{ keyId: key.id, requests: 7 }]);
    },
  );
}
