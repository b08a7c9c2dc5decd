/** What every store does with writes that came without the acting header. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import { dayMs, type UsageRow } from '../../src/domain/usage.ts';
import { createKey, createParent } from '../support/store.ts';
import { usageRow } from '../support/usage-rows.ts';

export async function writesByDefaultContract(t: Test, { tenants, usage }: Store): Promise<void> {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const add = (rows: readonly UsageRow[], journal: string = randomUUID()) =>
    usage.add({ journal, from: 0, to: rows.length, rows, keysPerAccountHour: 200, throughMs: Infinity });
  const written = (account: AccountId, keyId: KeyId, atMs: number, writesByDefault: number): UsageRow =>
    usageRow(account, atMs, {
      ...{ keyId, requests: 9, reads: 1, writes: 8, writesByDefault },
      lastWriteByDefaultMs: writesByDefault === 0 ? 0 : atMs,
    });

  await t.test('they add up by key, however often a batch comes, and are the parent’s alone', async (t) => {
    const parent = (await createParent(tenants)).id;
    const other = (await createParent(tenants)).id;
    const [key, quiet, foreign] = [
      (await createKey(tenants, parent, { name: 'importer' })).key,
      (await createKey(tenants, parent)).key,
      (await createKey(tenants, other)).key,
    ];
    const journal = randomUUID();
    const rows = [
      written(parent, key.id, today, 3),
      written(parent, key.id, today + 5_000_000, 4),
      written(parent, quiet.id, today, 0),
      written(other, foreign.id, today, 1),
    ];
    for (let i = 0; i < 3; i++) await add(rows, journal);
    await add([written(parent, key.id, today - 2 * dayMs, 10)]);
    const { keys, countedFromMs } = await usage.writesByDefault(parent, today - 7 * dayMs);
    t.same(keys, [{ keyId: key.id, name: 'importer', requests: 17, lastAtMs: today + 5_000_000 }]);
    t.ok(countedFromMs <= Date.now() && countedFromMs > Date.now() - dayMs);
    t.match((await usage.writesByDefault(parent, today)).keys, [{ requests: 7 }], 'since a day');
  });

  await t.test('a key keeps nine days, whichever order they come in', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { key } = await createKey(tenants, parent);
    const day = (n: number, writes: number): UsageRow => written(parent, key.id, today + n * dayMs, writes);
    await add([day(-9, 1_000), day(-8, 100), day(0, 1)]);
    await add([day(-9, 1_000), day(-18, 1_000), day(-8, 200)]);
    const { keys } = await usage.writesByDefault(parent, today - 8 * dayMs);
    t.match(keys, [{ requests: 301, lastAtMs: today }]);
    const all = await usage.writesByDefault(parent, today - 100 * dayMs);
    t.match(all.keys, [{ requests: 301 }], 'and no more');
  });
}
