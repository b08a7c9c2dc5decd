/** What a store does where a parent has limits of its own, in place of the configuration's. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { foreignKey, keyDraft, subAccountDraft } from '../support/drafts.ts';
import { createKey, createParent, createSub } from '../support/store.ts';

export async function parentLimitContract(t: Test, { tenants, events }: Store): Promise<void> {
  const configured = 2;

  async function limited(
    maxSubAccounts: number | null,
    maxApiKeys: number | null = null,
  ): Promise<AccountId> {
    const { id } = await createParent(tenants);
    await tenants.updateParent(id, { maxSubAccounts, maxApiKeys });
    return id;
  }

  await t.test(
    'what is not named stays, null goes back, and what changes nothing leaves no event',
    async (t) => {
      const { id } = await createParent(tenants);
      t.match(await tenants.getParent(id), { maxSubAccounts: null, maxApiKeys: null });
      t.match(await tenants.updateParent(id, { maxSubAccounts: 0 }), {
        value: { maxSubAccounts: 0, maxApiKeys: null },
      });
      t.match(await tenants.updateParent(id, { maxApiKeys: 5 }), {
        value: { maxSubAccounts: 0, maxApiKeys: 5 },
      });
      t.match(await tenants.updateParent(id, { maxApiKeys: 5 }), { value: { maxApiKeys: 5 } });
      t.match(await tenants.updateParent(id, { maxSubAccounts: null, name: 'New' }), {
        value: { name: 'New', maxSubAccounts: null, maxApiKeys: 5 },
      });
      t.match(await tenants.getParent(id), { maxSubAccounts: null, maxApiKeys: 5 });
      const { rows } = await events.list({ account: id }, { limit: 10 });
      t.match(
        rows.map(({ type, subject }) => [type, subject.before]),
        [
          ['account.updated', { name: 'Parent', maxSubAccounts: 0, maxApiKeys: 5 }],
          ['account.updated', { maxSubAccounts: 0, maxApiKeys: null }],
          ['account.updated', { maxSubAccounts: null, maxApiKeys: null }],
          ['account.created', null],
        ],
      );
    },
  );

  await t.test('sub-accounts: one by one, put by their names and imported', async (t) => {
    const more = await limited(3);
    for (let i = 0; i < 3; i++) await tenants.createSubAccount(more, subAccountDraft(), configured);
    t.same(await tenants.createSubAccount(more, subAccountDraft(), configured), { limit: 3 });
    const none = await limited(0);
    t.same(await tenants.createSubAccount(none, subAccountDraft(), configured), { limit: 0 });
    t.same(await tenants.createSubAccount(none, { ...subAccountDraft() }, configured), {
      limit: 0,
    });
    const draft = { id: subAccountDraft().id, name: 'Put', metadata: {} };
    t.same(await tenants.putSubAccount(none, 'put', draft, configured), { limit: 0 });
    const rows = [more, none].map((parent, n) => ({
      ...{ id: subAccountDraft().id, parent, externalId: `row-${n}`, name: 'Row', metadata: {} },
    }));
    t.match((await tenants.importSubAccounts(rows, configured)).value, [
      { outcome: 'limit' },
      { outcome: 'limit' },
    ]);
    await tenants.updateParent(more, { maxSubAccounts: 4 });
    await tenants.updateParent(none, { maxSubAccounts: null });
    t.match((await tenants.importSubAccounts(rows, configured)).value, [
      { outcome: 'created' },
      { outcome: 'created' },
    ]);
    t.equal((await tenants.getParent(more))?.activeSubAccounts, 4);
  });

  await t.test('keys: of the parent and of each of its sub-accounts, minted and imported', async (t) => {
    const parent = await limited(null, 3);
    const sub = (await createSub(tenants, parent)).value.id;
    for (const owner of [parent, sub]) {
      for (let i = 0; i < 3; i++) t.ok(await tenants.createKey(owner, keyDraft(), configured));
      t.same(await tenants.createKey(owner, keyDraft(), configured), { limit: 3 });
      const keys = [foreignKey(owner)];
      t.same(await tenants.importKeys(parent, keys, configured), {
        ...{ rejected: 'limit', positions: [0], limit: 3 },
      });
      const row = { ...foreignKey(owner), parent, subExternalId: null };
      if (owner === parent)
        t.match((await tenants.importKeyRows([row], configured)).value, [{ outcome: 'limit' }]);
    }
    await tenants.updateParent(parent, { maxApiKeys: 4 });
    t.match(await tenants.importKeys(parent, [foreignKey(sub)], configured), { value: { imported: 1 } });
    const row = { ...foreignKey(parent), parent, subExternalId: null };
    t.match((await tenants.importKeyRows([row], configured)).value, [{ outcome: 'created' }]);
    await tenants.updateParent(parent, { maxApiKeys: null });
    t.same(await tenants.createKey(sub, keyDraft(), configured), { limit: configured });
  });

  await t.test(
    'from its 2xx on a lower limit holds, also for what the parent asked for before',
    async (t) => {
      const { id } = await createParent(tenants);
      const { key } = await createKey(tenants, id);
      const caller = { accountId: id, keyId: key.id };
      const sub = (await createSub(tenants, id)).value.id;
      const minting = Array.from({ length: 12 }, () =>
        tenants.createKey(sub, keyDraft(), 1_000, null, caller),
      );
      await tenants.updateParent(id, { maxApiKeys: 1 });
      const count = async (): Promise<number> => (await tenants.listKeys(sub, { limit: 100 })).rows.length;
      const then = await count();
      await Promise.all(minting);
      t.equal(await count(), Math.max(then, 1));
    },
  );
}
