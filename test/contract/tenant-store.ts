/** What every tenant store does with sub-accounts and keys; run by the test file of each adapter. */
import type { Test } from 'tap';
import { mergeMetadata, type Metadata } from '../../src/domain/account.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { keyDraft, newAccountId, newKeyId, subAccountDraft } from '../support/drafts.ts';
import { createParent, createSub, problemCode } from '../support/store.ts';

export async function tenantStoreContract(t: Test, { tenants }: Store): Promise<void> {
  const noLimit = 1_000_000;

  await t.test('a sub-account is what was created, and no other parent sees it', async (t) => {
    const parent = await createParent(tenants);
    const otherParent = await createParent(tenants);
    const draft = subAccountDraft({
      name: 'Ünï 🚚',
      externalId: 'A:b/~!',
      metadata: { k: 'v', __proto__x: '' },
    });
    const made = await createSub(tenants, parent.id, draft);
    t.match(made.value, { ...draft, parentId: parent.id, status: 'active', deactivatedAt: null });
    t.same(await tenants.getSubAccount(parent.id, draft.id), made.value);
    t.equal(await tenants.getSubAccount(otherParent.id, draft.id), null);
    t.equal(await tenants.getSubAccount(parent.id, parent.id), null);
  });

  await t.test('an external_id is taken once under a parent, deactivated or not', async (t) => {
    const parent = await createParent(tenants);
    const otherParent = await createParent(tenants);
    const { value: first } = await createSub(tenants, parent.id, { externalId: 'one' });
    await tenants.setSubAccountStatus(parent.id, first.id, 'deactivated');
    const draft = subAccountDraft({ externalId: 'one' });
    t.same(await tenants.createSubAccount(parent.id, draft, noLimit), { taken: first.id });
    t.equal(await tenants.getSubAccount(parent.id, draft.id), null);
    await createSub(tenants, otherParent.id, { externalId: 'one' });
    const { value: second } = await createSub(tenants, parent.id, { externalId: 'One' });
    t.same(await tenants.updateSubAccount(parent.id, second.id, { externalId: 'one' }), { taken: first.id });
    t.equal((await tenants.getSubAccount(parent.id, second.id))?.externalId, 'One');
  });

  await t.test('of many creates with one external_id exactly one wins, and the others name it', async (t) => {
    const parent = await createParent(tenants);
    const results = await Promise.all(
      Array.from({ length: 50 }, () =>
        tenants.createSubAccount(parent.id, subAccountDraft({ externalId: 'contended' }), noLimit),
      ),
    );
    const winners = results.flatMap((result) => ('value' in result ? [result.value.id] : []));
    t.equal(winners.length, 1);
    t.equal(results.filter((result) => 'taken' in result && result.taken === winners[0]).length, 49);
    t.equal((await tenants.getParent(parent.id))?.activeSubAccounts, 1);
  });

  await t.test('the limit holds under concurrency and counts deactivated ones', async (t) => {
    const parent = await createParent(tenants);
    const results = await Promise.all(
      Array.from({ length: 12 }, () => tenants.createSubAccount(parent.id, subAccountDraft(), 5)),
    );
    const made = results.flatMap((result) => ('value' in result ? [result.value.id] : []));
    t.equal(made.length, 5);
    t.same(
      results.filter((result) => 'limit' in result),
      Array.from({ length: 7 }, () => ({ limit: 5 })),
    );
    await tenants.setSubAccountStatus(parent.id, made[0] as AccountId, 'deactivated');
    t.same(await tenants.createSubAccount(parent.id, subAccountDraft(), 5), { limit: 5 });
  });

  await t.test('a change leaves what it does not name, and null clears', async (t) => {
    const parent = await createParent(tenants);
    const { value: old } = await createSub(tenants, parent.id, {
      name: 'Old',
      externalId: 'x',
      metadata: { a: '1' },
    });
    const renamed = await tenants.updateSubAccount(parent.id, old.id, { name: 'New' });
    t.match(renamed, { value: { name: 'New', externalId: 'x', metadata: { a: '1' } }, seq: null });
    t.match(await tenants.updateSubAccount(parent.id, old.id, { externalId: null }), {
      value: { name: 'New', externalId: null },
    });
    t.match(await tenants.updateSubAccount(parent.id, old.id, { externalId: 'x' }), {
      value: { externalId: 'x' },
    });
    t.equal(await tenants.updateSubAccount(newAccountId(), old.id, { name: 'Stolen' }), null);
    t.equal(await tenants.updateSubAccount(parent.id, parent.id, { name: 'Stolen' }), null);
    t.equal((await tenants.getSubAccount(parent.id, old.id))?.name, 'New');
  });

  await t.test('metadata merges as the domain says', async (t) => {
    const parent = await createParent(tenants);
    const full: Metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'v']));
    const cases: readonly [Metadata, Record<string, string | null>][] = [
      [{}, { a: '1' }],
      [
        { a: '1', b: '2' },
        { a: null, c: '3' },
      ],
      [{ a: '1' }, { missing: null }],
      [full, { k0: 'changed' }],
      [full, { k0: null, fresh: 'v' }],
      [full, { fresh: 'v' }],
      [{ a: '"\\' }, { 'ü b': '{"x":null}' }],
    ];
    for (const [before, change] of cases) {
      const { value: sub } = await createSub(tenants, parent.id, { metadata: before });
      const result = await tenants.updateSubAccount(parent.id, sub.id, { metadata: change });
      const merged = mergeMetadata(before, change);
      if (merged === undefined) t.equal(result, 'too-many-pairs');
      else t.match(result, { value: { metadata: merged } });
      t.same((await tenants.getSubAccount(parent.id, sub.id))?.metadata, merged ?? before);
    }
  });

  await t.test('deactivating and reactivating is idempotent', async (t) => {
    const parent = await createParent(tenants);
    const { value: sub } = await createSub(tenants, parent.id);
    const off = await tenants.setSubAccountStatus(parent.id, sub.id, 'deactivated');
    t.match(off, { value: { status: 'deactivated', deactivatedAt: Date } });
    t.same((await tenants.setSubAccountStatus(parent.id, sub.id, 'deactivated'))?.value, off?.value);
    const on = await tenants.setSubAccountStatus(parent.id, sub.id, 'active');
    t.match(on, { value: { status: 'active', deactivatedAt: null } });
    t.same((await tenants.setSubAccountStatus(parent.id, sub.id, 'active'))?.value, on?.value);
    t.equal(await tenants.setSubAccountStatus(newAccountId(), sub.id, 'deactivated'), null);
    t.equal((await tenants.getParent(parent.id))?.activeSubAccounts, 1);
  });

  await t.test('the active count stays right whatever runs at the same time', async (t) => {
    const parent = await createParent(tenants);
    const subs = await Promise.all(Array.from({ length: 10 }, () => createSub(tenants, parent.id)));
    const toggles = subs.flatMap(({ value }, i) =>
      (['deactivated', 'active', 'deactivated', 'active'] as const).map(
        (status) => [value.id, status, i] as const,
      ),
    );
    await Promise.all(toggles.map(([id, status]) => tenants.setSubAccountStatus(parent.id, id, status)));
    const { rows } = await tenants.listSubAccounts(parent.id, { status: 'active' }, { limit: 100 });
    t.equal((await tenants.getParent(parent.id))?.activeSubAccounts, rows.length);
    await Promise.all(
      subs.flatMap(({ value }) =>
        [1, 2].map(() => tenants.setSubAccountStatus(parent.id, value.id, 'deactivated')),
      ),
    );
    t.equal((await tenants.getParent(parent.id))?.activeSubAccounts, 0);
  });

  await t.test('a key belongs to one account, and revoking is idempotent', async (t) => {
    const parent = await createParent(tenants);
    const expiresAt = new Date('2030-01-02T03:04:05.678Z');
    const draft = keyDraft({ name: 'CI', scopes: ['tracking:read', 'a.b*-_'], expiresAt });
    const key = await tenants.createKey(parent.id, draft, 10);
    const { digest: _digest, clientSecretDigest: _secret, ...visible } = draft;
    t.match(key, { ...visible, accountId: parent.id, revokedAt: null, lastUsedAt: null });
    t.same(await tenants.listKeys(parent.id, { limit: 10 }), { rows: [key], hasMore: false });
    t.equal(await tenants.revokeKey(newAccountId(), draft.id), null);
    t.equal(await tenants.revokeKey(parent.id, newKeyId()), null);
    const revoked = await tenants.revokeKey(parent.id, draft.id);
    t.match(revoked, { value: { id: draft.id, revokedAt: Date } });
    t.same((await tenants.revokeKey(parent.id, draft.id))?.value, revoked?.value);
    t.equal(await tenants.createKey(newAccountId(), keyDraft(), 10), null);
  });

  await t.test('the limit of keys holds under concurrency, and a revoked key makes room', async (t) => {
    const { id } = await createParent(tenants);
    const results = await Promise.all(Array.from({ length: 6 }, () => tenants.createKey(id, keyDraft(), 3)));
    const made = results.flatMap((result) => (result !== null && 'id' in result ? [result.id] : []));
    t.equal(made.length, 3);
    await tenants.revokeKey(id, made[0] ?? newKeyId());
    t.match(await tenants.createKey(id, keyDraft(), 3), { accountId: id });
    t.same(await tenants.createKey(id, keyDraft(), 3), { limit: 3 });
  });

  await t.test('a text that cannot be stored is rejected as invalid', async (t) => {
    const { id } = await createParent(tenants);
    for (const draft of [{ name: 'a\0b' }, { metadata: { a: '\0' } }, { metadata: { a: '\ud800' } }]) {
      const made = tenants.createSubAccount(id, subAccountDraft(draft), noLimit);
      t.equal(await problemCode(made), 'invalid_request', JSON.stringify(draft));
    }
  });
}
