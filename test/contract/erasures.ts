/** Erasure of what deleted accounts were called, in batches that may be interrupted. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { factKey } from '../../src/ports/facts.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { Erasure, ErasureStore } from '../../src/ports/erasures.ts';
import { factOf } from '../support/logged.ts';
import { createKey, createParent, createSub } from '../support/store.ts';

const page = { limit: 100 };

export async function erasureContract(t: Test, store: Store): Promise<void> {
  const { erasures, events, facts, log } = store;
  await eraseAll(erasures, 1_000);

  await t.test('nothing is erased before changes that began earlier have ended', async (t) => {
    const { id } = await deletedParent(store);
    t.equal(await erasures.run({ settledMs: 60_000, most: 100 }), null);
    t.match(await eraseAll(erasures, 100), { accountId: id, accounts: 1 });
    t.equal(await erasures.run({ settledMs: 0, most: 100 }), null);
  });

  await t.test('batches of any size come to the same end', async (t) => {
    for (const most of [1, 2, 3, 1_000]) {
      const { id, subs, digest } = await deletedParent(store, 3);
      const { seq: before } = await log.replicas();
      const logged = new Set<string>();
      const erased = await eraseAll(erasures, most, async () => {
        for (const { key } of (await log.readAfter(before, 1_000)).entries) logged.add(key);
      });
      t.match(erased, { accountId: id, accounts: 4, apiKeys: 4, erasedAt: Date });
      t.same(await erasures.get(id), erased);
      const { rows } = await events.list({ account: id }, page);
      t.equal(rows.length, erased?.events, 'no event was added');
      t.ok(rows.every(({ address }) => address === null));
      t.notMatch(JSON.stringify(rows), /canary/);
      t.match(await factOf(facts, factKey.key(digest)), { revoked: true });
      for (const sub of subs) t.ok(logged.has(factKey.account(sub)), 'no replica keeps an external_id');
      const { floor, seq } = await log.readAfter(null, 1);
      t.equal(floor, seq, 'nor does the log');
    }
  });
}

/** A deleted parent with sub-accounts, a key each, and the word `canary` wherever there is a text. */
async function deletedParent(
  { tenants }: Store,
  count = 0,
): Promise<{ readonly id: AccountId; readonly subs: readonly AccountId[]; readonly digest: KeyDigest }> {
  const operator = { operator: 'alice', address: '192.0.2.7' };
  const { id } = await createParent(tenants, { name: 'canary', metadata: { canary: 'canary' } });
  const { digest } = await createKey(tenants, id, { name: 'canary' });
  const subs: AccountId[] = [];
  for (let i = 0; i < count; i += 1) {
    const draft = { name: 'canary', externalId: `canary-${i}`, metadata: { a: 'canary' } };
    const { value: sub } = await createSub(tenants, id, draft);
    subs.push(sub.id);
    const { key } = await createKey(tenants, sub.id, { name: 'canary' });
    await tenants.updateKey(sub.id, key.id, { name: 'canary too' }, operator);
  }
  await tenants.setParentStatus(id, 'suspended', null, operator);
  await tenants.deleteParent(id, operator);
  return { id, subs, digest };
}

type KeyDigest = Awaited<ReturnType<typeof createKey>>['digest'];

/** Erases batch by batch; returns the last erasure as it stands at its end. */
async function eraseAll(
  erasures: ErasureStore,
  most: number,
  afterBatch: () => Promise<unknown> = async () => undefined,
): Promise<Erasure | null> {
  let last: Erasure | null = null;
  for (;;) {
    const batch = await erasures.run({ settledMs: 0, most });
    if (batch === null) return last;
    last = batch;
    await afterBatch();
  }
}
