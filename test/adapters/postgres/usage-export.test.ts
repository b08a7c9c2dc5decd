// class: app
/** The export of usage of accounts that the database lacks. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { AccountId } from '../../../src/domain/ids.ts';
import type { ExportedUsage } from '../../../src/domain/usage-event.ts';
import { hourMs, type UsageRow } from '../../../src/domain/usage.ts';
import { createParent, createSub, freshStore } from '../../support/store.ts';
import { usageRow } from '../../support/usage-rows.ts';

const may = Date.UTC(2025, 4, 1);

t.test('usage of an account that a restored backup lacks hides no other from the export', async (t) => {
  const { store } = await freshStore(t);
  const journal = randomUUID();
  const add = (rows: readonly UsageRow[], throughMs: number): Promise<unknown> =>
    store.usage.add({ journal, from: 0, to: rows.length, rows, keysPerAccountHour: 200, throughMs });
  const rows: UsageRow[] = [];
  const known: AccountId[] = [];
  for (let i = 0; i < 4; i++) {
    const { id: parentId } = await createParent(store.tenants);
    const sub = (await createSub(store.tenants, parentId)).value.id;
    // The first one is before, the second after all others.
    const lost = [
      '00000000-0000-7000-8000-000000000001',
      'ffffffff-ffff-7000-8000-000000000001',
    ] as AccountId[];
    for (const id of [parentId, sub, ...(i % 2 === 0 ? lost : [])])
      rows.push({ ...usageRow(id, may, { keyId: randomUUID(), requests: 1 }), parentId });
    known.push(parentId, sub);
  }
  await add(rows, may + hourMs);
  await store.usageExport.begin({
    ...{ holder: randomUUID(), leaseMs: 60_000, delayMs: 0, lostAfterMs: 86_400_000 },
  });
  for (const most of [1, 2, 3, 5, 100]) {
    const found: AccountId[] = [];
    let after: AccountId | null = null;
    for (let page = 0; page < 30; page++) {
      const read: { rows: readonly ExportedUsage[]; next: AccountId | null } = await store.usageExport.hour(
        may,
        after,
        most,
      );
      found.push(...read.rows.map(({ accountId }) => accountId));
      after = read.next;
      if (after === null) break;
    }
    t.same(found, known, `pages of ${most}`);
  }
});
