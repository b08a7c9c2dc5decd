/** What mutations do when the request they stand for comes again. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { digestSecret } from '../../src/domain/api-key.ts';
import { operatorCaller } from '../../src/ports/changes.ts';
import { keyDraft, newAccountId, newClaim, newKeyId, subAccountDraft } from '../support/drafts.ts';
import { createKey, createParent, createSub, problemCode } from '../support/store.ts';

export async function idempotencyContract(t: Test, { tenants, log }: Store): Promise<void> {
  const noLimit = 1_000;
  await t.test('a create happens once, and sent again returns what it made as it was then', async (t) => {
    const parent = (await createParent(tenants)).id;
    const claim = newClaim();
    const made = await tenants.createSubAccount(parent, subAccountDraft(), noLimit, claim);
    if (!('value' in made)) throw new Error('not created');
    t.notOk(made.replayed);
    t.same(await tenants.getSubAccount(parent, made.value.id), made.value);

    await tenants.setSubAccountStatus(parent, made.value.id, 'deactivated');
    const { seq: now } = await log.replicas();
    const again = await tenants.createSubAccount(parent, subAccountDraft(), noLimit, claim);
    t.same(again, { ...made, seq: now, replayed: true }, 'and waits for the newest position');
    t.equal((await tenants.listSubAccounts(parent, {}, { limit: 10 })).rows.length, 1);

    const minting = newClaim();
    const key = await tenants.createKey(parent, keyDraft({ scopes: ['a:b'] }), noLimit, minting);
    if (key === null || !('id' in key)) throw new Error('no key');
    await tenants.revokeKey(parent, key.id);
    t.same(await tenants.createKey(parent, keyDraft(), noLimit, minting), { ...key, replayed: true });
    t.equal((await tenants.listKeys(parent, { limit: 10 })).rows.length, 1);

    const founding = newClaim(operatorCaller);
    const draft = { id: newAccountId(), name: 'Once' };
    const account = await tenants.createParent(draft, founding);
    t.match(account, { value: draft, seq: null });
    const other = { id: newAccountId(), name: 'Once' };
    t.same(await tenants.createParent(other, founding), { ...account, replayed: true });
    t.equal(await tenants.getParent(other.id), null);
  });

  await t.test('a change of status happens once, and a late duplicate undoes nothing', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { value: sub } = await createSub(tenants, parent);
    const claim = newClaim();
    const deactivate = () => tenants.setSubAccountStatus(parent, sub.id, 'deactivated', claim);
    const first = await deactivate();
    t.match(first, { value: { status: 'deactivated' } });
    await tenants.setSubAccountStatus(parent, sub.id, 'active');
    const { seq: now } = await log.replicas();
    t.same(await deactivate(), { ...first, seq: now, replayed: true }, 'it gets what the first one got');
    t.equal((await tenants.getSubAccount(parent, sub.id))?.status, 'active');
    t.equal((await log.replicas()).seq, now, 'nothing was logged');

    const { key } = await createKey(tenants, sub.id);
    const revoking = newClaim();
    const revoked = await tenants.revokeKey(sub.id, key.id, revoking);
    t.ok(revoked?.value.revokedAt);
    t.same(await tenants.revokeKey(sub.id, key.id, revoking), { ...revoked, replayed: true });

    const suspending = newClaim(operatorCaller);
    const suspend = () => tenants.setParentStatus(parent, 'suspended', suspending);
    t.match(await suspend(), { value: { status: 'suspended' } });
    await tenants.setParentStatus(parent, 'active');
    t.match(await suspend(), { value: { status: 'suspended' }, replayed: true });
    t.equal((await tenants.getParent(parent))?.status, 'active');
  });

  await t.test(
    'a key stands for one request of its caller; another caller may use the same key',
    async (t) => {
      const parent = (await createParent(tenants)).id;
      const { value: sub } = await createSub(tenants, parent);
      const { key } = await createKey(tenants, sub.id);
      const claim = newClaim();
      const other = { ...claim, fingerprint: digestSecret('something else') };
      await tenants.createSubAccount(parent, subAccountDraft(), noLimit, claim);
      for (const mutate of [
        () => tenants.createSubAccount(parent, subAccountDraft(), noLimit, other),
        () => tenants.setSubAccountStatus(parent, sub.id, 'deactivated', other),
        () => tenants.createKey(sub.id, keyDraft(), noLimit, other),
        () => tenants.revokeKey(sub.id, key.id, other),
        () => tenants.setParentStatus(parent, 'suspended', other),
        () => tenants.createParent({ id: newAccountId(), name: 'x' }, other),
      ]) {
        t.equal(await problemCode(mutate()), 'idempotency_mismatch');
      }
      t.equal((await tenants.getSubAccount(parent, sub.id))?.status, 'active', 'nothing happened');
      t.equal((await tenants.getParent(parent))?.status, 'active');

      const theirs = { ...other, caller: newKeyId() };
      t.notOk('replayed' in (await tenants.createSubAccount(parent, subAccountDraft(), noLimit, theirs)));
      const operators = { ...other, caller: operatorCaller } as const;
      t.notOk('replayed' in (await tenants.createParent({ id: newAccountId(), name: 'x' }, operators)));
    },
  );

  await t.test('a rejected request does not use up its key', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { value: sub } = await createSub(tenants, parent, { externalId: 'taken' });
    const claim = newClaim();
    const draft = subAccountDraft({ externalId: 'taken' });
    const create = () => tenants.createSubAccount(parent, draft, noLimit, claim);
    t.same(await create(), { taken: sub.id });
    t.same(await tenants.createSubAccount(parent, subAccountDraft(), 1, claim), { limit: 1 });
    t.equal(await tenants.createKey(newAccountId(), keyDraft(), noLimit, claim), null);
    t.same(await tenants.createKey(parent, keyDraft(), 0, claim), { limit: 0 });
    t.equal(await tenants.revokeKey(parent, newKeyId(), claim), null);
    t.equal(await tenants.setSubAccountStatus(parent, newAccountId(), 'active', claim), null);
    t.equal(await tenants.setParentStatus(newAccountId(), 'active', claim), null);
    const anything = { ...claim, fingerprint: digestSecret('not what was rejected') };
    await tenants.updateSubAccount(parent, sub.id, { externalId: null });
    t.match(await tenants.createSubAccount(parent, draft, noLimit, anything), {
      value: { id: draft.id },
    });
  });

  await t.test(
    'of many at once one takes effect; the others get its result, or hear that it is at work',
    async (t) => {
      const parent = (await createParent(tenants)).id;
      const claim = newClaim();
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, () => tenants.createSubAccount(parent, subAccountDraft(), noLimit, claim)),
      );
      const made = results.flatMap((result) =>
        result.status === 'fulfilled' && 'value' in result.value ? [result.value] : [],
      );
      t.equal(made.filter(({ replayed }) => !replayed).length, 1);
      t.equal(new Set(made.map(({ value }) => value.id)).size, 1);
      for (const result of results) {
        if (result.status === 'rejected')
          t.match(result.reason, { problem: { code: 'idempotency_in_flight', retryAfter: 1 } });
      }
      t.equal((await tenants.listSubAccounts(parent, {}, { limit: 10 })).rows.length, 1);
    },
  );

  await t.test('the API key that calls need not exist in the store any more', async (t) => {
    const parent = (await createParent(tenants)).id;
    const claim = newClaim('00000000-0000-7000-8000-000000000000');
    t.match(await tenants.createSubAccount(parent, subAccountDraft(), noLimit, claim), { value: {} });
  });
}
