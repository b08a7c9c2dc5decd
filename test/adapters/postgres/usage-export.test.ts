// class: app
/** The export of usage while hours are closed and counted in at the same time. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { openPostgres } from '../../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import type { ExportedUsage } from '../../../src/domain/usage-event.ts';
import { hourMs, type UsageRow } from '../../../src/domain/usage.ts';
import { createParent, createSub, freshStore, rawSql } from '../../support/store.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';

const may = Date.UTC(2025, 4, 1);
const hours = 24;

t.test(
  'a batch is in an hour before it is closed, or in a correction of it, and never in neither',
  async (t) => {
    const { store, url } = await freshStore(t, { maxConnections: 10 });
    const stores = [1, 2, 3].map(() => openPostgres({ url, maxConnections: 10 }));
    t.teardown(() => Promise.all(stores.map((each) => each.close())));
    const { id: parent } = await createParent(store.tenants);
    const accounts: AccountId[] = [parent];
    for (let i = 0; i < 4; i++) accounts.push((await createSub(store.tenants, parent)).value.id);
    const keys = [randomUUID(), randomUUID()];
    const journal = randomUUID();
    const turn = { holder: randomUUID(), leaseMs: 60_000, delayMs: 0, lostAfterMs: 86_400_000 };
    const read: ExportedUsage[] = [];
    /** Closes hours one after the other and reads each as soon as it is closed, as the exporter does. */
    const exporting = async (): Promise<void> => {
      let corrections = 0;
      for (let through = may; through <= may + hours * hourMs; through += hourMs) {
        await store.usage.add({
          journal,
          from: 0,
          to: 0,
          rows: [],
          keysPerAccountHour: 200,
          throughMs: through,
        });
        const { closedUntilMs } = await store.usageExport.begin(turn);
        t.equal(closedUntilMs, through);
        if (through > may) read.push(...(await store.usageExport.hour(through - hourMs, null, 100)).rows);
        corrections = await readCorrections(corrections);
      }
    };
    const readCorrections = async (after: number): Promise<number> => {
      const query = { after, fromMs: may, toMs: Infinity, most: 1_000 };
      const found = await store.usageExport.corrections(query);
      read.push(...found);
      return found.at(-1)?.number ?? after;
    };
    let done = false;
    const writing = stores.map(async (each, writer) => {
      for (let n = 0; !done; n++) {
        const rows = accounts.map((id, i) =>
          usageRow(id, may + ((n * 7 + i * 5 + writer) % hours) * hourMs, {
            keyId: keys[n % 2],
            requests: 1 + i,
          }),
        );
        await addUsage({ store: each }, rows);
      }
    });
    await exporting();
    done = true;
    await Promise.all(writing);
    await store.usageExport.begin(turn);
    const last = Math.max(0, ...read.flatMap((row) => ('number' in row ? [Number(row.number)] : [])));
    await readCorrections(last);

    const sums = new Map<string, number>();
    for (const { accountId, hourMs: at, requests } of read)
      sums.set(`${accountId} ${at}`, (sums.get(`${accountId} ${at}`) ?? 0) + requests);
    const counted = await rawSql(t, url)<{ of: string; requests: number }[]>`
    select account_id || ' ' || extract(epoch from hour)::bigint * 1000 as of, sum(requests)::int as requests
    from usage_hourly group by 1`;
    t.same(sums, new Map(counted.map(({ of, requests }) => [of, requests])));
    t.ok(
      read.some(({ correction }) => correction === null) &&
        read.some(({ correction }) => correction !== null),
    );

    const again: ExportedUsage[] = [];
    for (let at = may; at < may + hours * hourMs; at += hourMs)
      again.push(...(await store.usageExport.hour(at, null, 100)).rows);
    t.same(
      again,
      read.filter(({ correction }) => correction === null),
      'hours that are read again are as they were',
    );
  },
);

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
