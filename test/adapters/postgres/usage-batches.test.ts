// class: app
/** Batches of usage beside other transactions: for which of them a batch waits, and for which it does not. */
import t, { type Test } from 'tap';
import { dayMs } from '../../../src/domain/usage.ts';
import { createKey, createParent, freshStore } from '../../support/store.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';

const today = Math.floor(Date.now() / dayMs) * dayMs;

async function twoParents(t: Test) {
  const { store, sql } = await freshStore(t);
  const [one, other] = [await createParent(store.tenants), await createParent(store.tenants)];
  return { store, sql, one: one.id, other: other.id };
}

t.test('a batch waits for no batch with other rows, also if both are new to their day', async (t) => {
  const { store, sql, one, other } = await twoParents(t);
  await sql.begin(async (tx) => {
    await tx`insert into usage_hourly values (${one}, ${one}, ${new Date(today)}, ${one}, 1, 1, 0, 0, 0, 0, 0)`;
    await addUsage({ store }, [usageRow(other, today, { requests: 1 })]);
  });
  const [{ rows }] = await sql<[{ rows: number }]>`select count(*)::int as rows from usage_hourly`;
  t.equal(rows, 2);
});

t.test(
  'a key whose row is locked elsewhere holds no counts back, and gets its time of use later',
  async (t) => {
    const { store, sql, one, other } = await twoParents(t);
    const keyId = (await createKey(store.tenants, one)).key.id;
    const add = () =>
      addUsage({ store }, [
        usageRow(one, today, { keyId, requests: 1, lastUsedMs: today }),
        usageRow(other, today, { requests: 1 }),
      ]);
    const lastUsed = async () =>
      (await sql<{ at: Date | null }[]>`select last_used_at as at from api_key`)[0]?.at;
    await sql.begin(async (tx) => {
      await tx`select from api_key where id = ${keyId} for update`;
      await add();
    });
    const [{ sum }] = await sql<[{ sum: number }]>`select sum(requests)::int as sum from usage_hourly`;
    t.equal(sum, 2);
    t.equal(await lastUsed(), null);
    await add();
    t.equal((await lastUsed())?.getTime(), today);
  },
);

t.test('no hour is closed while a transaction may still add to it', async (t) => {
  const { store, sql, one } = await twoParents(t);
  const turn = { holder: one, leaseMs: 60_000, delayMs: 0, lostAfterMs: 0 };
  await sql.begin(async (tx) => {
    await tx`insert into usage_hourly values (${one}, ${one}, ${new Date(today)}, ${one}, 1, 1, 0, 0, 0, 0, 0)`;
    const { closedUntilMs } = await store.usageExport.begin(turn);
    t.equal(closedUntilMs, -Infinity);
    t.equal(await store.usage.rollUp(), false, 'and no day is added up');
  });
  const { closedUntilMs } = await store.usageExport.begin(turn);
  t.ok(closedUntilMs > today - dayMs, 'the control');
  t.equal(await store.usage.rollUp(), true);
});
