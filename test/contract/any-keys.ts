/** How operators find any key. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { KeyId } from '../../src/domain/ids.ts';
import type { KeyFilter } from '../../src/ports/api-keys.ts';
import { newAccountId, newKeyId } from '../support/drafts.ts';
import { createKey, createParent, createSub } from '../support/store.ts';

export async function anyKeysContract(t: Test, { tenants }: Store): Promise<void> {
  const parent = await createParent(tenants);
  const { value: sub } = await createSub(tenants, parent.id, { name: 'Ada', externalId: 'ada' });
  const past = new Date(Date.now() - 60_000);
  const of = async (account = parent.id, draft: Parameters<typeof createKey>[2] = {}) =>
    createKey(tenants, account, { prefix: 'tgw_find', ...draft });
  const [parents, subs, expired, revoked] = [
    await of(),
    await of(sub.id, { last4: 'subs' }),
    await of(sub.id, { expiresAt: past }),
    await of(sub.id, { expiresAt: past }),
  ];
  await tenants.revokeKey(sub.id, revoked.key.id);
  const all = [revoked, expired, subs, parents].map(({ key }) => key.id);
  const ids = async (filter: KeyFilter): Promise<KeyId[]> =>
    (await tenants.findKeys({ prefix: 'tgw_find', ...filter }, { limit: 10 })).rows.map(({ key }) => key.id);

  await t.test('a key of any account is found by what is known of it', async (t) => {
    t.same(await ids({}), all, 'newest first');
    t.same(await ids({ last4: 'subs' }), [subs.key.id]);
    t.same(await ids({ digest: parents.digest }), [parents.key.id]);
    t.same(await ids({ id: subs.key.id }), [subs.key.id]);
    t.same(await ids({ account: parent.id }), [parents.key.id]);
    t.same(await ids({ account: sub.id }), all.slice(0, 3));
    t.same(await ids({ last4: 'none' }), []);
    t.same(await ids({ account: newAccountId() }), []);
    t.same(await ids({ id: newKeyId() }), []);
  });

  await t.test('a key is found by fewer and by more characters than its prefix shows', async (t) => {
    for (const prefix of ['tgw_fi', 'tgw_fin', 'tgw_find', 'tgw_find9', `tgw_find${'x'.repeat(40)}`])
      t.same(await ids({ prefix }), all, prefix);
    for (const prefix of ['tgw_fine', 'gw_find', 'TGW_find', 'tgw_f%', 'tgw_____'])
      t.same(await ids({ prefix }), [], prefix);
  });

  await t.test('the states are those that keys are shown with: what is revoked is not expired', async (t) => {
    t.same(await ids({ status: 'active' }), [subs.key.id, parents.key.id]);
    t.same(await ids({ status: 'expired' }), [expired.key.id]);
    t.same(await ids({ status: 'revoked' }), [revoked.key.id]);
    t.same(await ids({ status: 'revoked', last4: 'subs' }), []);
  });

  await t.test('a key comes with its account, and that with its parent', async (t) => {
    const [found] = (await tenants.findKeys({ id: subs.key.id }, { limit: 1 })).rows;
    t.same(found, {
      key: subs.key,
      account: { id: sub.id, name: 'Ada', status: 'active', externalId: 'ada' },
      parent: { id: parent.id, name: 'Parent', status: 'active' },
    });
    const [ofParent] = (await tenants.findKeys({ id: parents.key.id }, { limit: 1 })).rows;
    t.match(ofParent, { account: { id: parent.id, externalId: null }, parent: null });
  });
}
