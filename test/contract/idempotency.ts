/** What mutations for one request do when it comes again. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { digestSecret } from '../../src/domain/api-key.ts';
import type { KeyId } from '../../src/domain/ids.ts';
import { operatorCaller, type RepeatableRequest } from '../../src/ports/tenant-store.ts';
import {
  createKey,
  createParent,
  createSub,
  keyDraft,
  newAccountId,
  newKeyId,
  problemCode,
  subAccountDraft,
} from '../support/store.ts';

export async function idempotencyContract(t: Test, { tenants, log }: Store): Promise<void> {
  const noLimit = 1_000;
  const [caller, otherCaller] = [newKeyId(), newKeyId()];
  let names = 0;

  /** A request that has not been made yet. */
  function newRequest(from: RepeatableRequest['caller'] = caller): RepeatableRequest {
    names += 1;
    return {
      caller: from,
      key: digestSecret(`name ${names}`),
      fingerprint: digestSecret('what is asked for'),
    };
  }

  await t.test('what makes something makes it once, and answers it again as it was then', async (t) => {
    const parent = (await createParent(tenants)).id;
    const request = newRequest();
    const made = await tenants.once(request).createSubAccount(parent, subAccountDraft(), noLimit);
    if (!('value' in made)) throw new Error('not created');
    t.notOk(made.replayed);
    t.same(await tenants.getSubAccount(parent, made.value.id), made.value);

    await tenants.setSubAccountStatus(parent, made.value.id, 'deactivated');
    const { seq: now } = await log.replicas();
    const again = await tenants.once(request).createSubAccount(parent, subAccountDraft(), noLimit);
    t.same(again, { value: made.value, seq: now, replayed: true }, 'and has to wait for all there is');
    t.equal((await tenants.listSubAccounts(parent, {}, { limit: 10 })).rows.length, 1);

    const minting = newRequest();
    const key = await tenants.once(minting).createKey(parent, keyDraft({ scopes: ['a:b'] }), noLimit);
    if (key === null || !('id' in key)) throw new Error('no key');
    await tenants.revokeKey(parent, key.id);
    t.same(await tenants.once(minting).createKey(parent, keyDraft(), noLimit), { ...key, replayed: true });
    t.equal((await tenants.listKeys(parent, { limit: 10 })).rows.length, 1);

    const founding = newRequest(operatorCaller);
    const draft = { id: newAccountId(), name: 'Once' };
    const account = await tenants.once(founding).createParent(draft);
    t.match(account, draft);
    const other = { id: newAccountId(), name: 'Once' };
    t.same(await tenants.once(founding).createParent(other), { ...account, replayed: true });
    t.equal(await tenants.getParent(other.id), null);
  });

  await t.test('what sets a state sets it again', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { value: sub } = await createSub(tenants, parent);
    const request = newRequest();
    const deactivate = () => tenants.once(request).setSubAccountStatus(parent, sub.id, 'deactivated');
    t.match(await deactivate(), { value: { status: 'deactivated' } });
    await tenants.setSubAccountStatus(parent, sub.id, 'active');
    const set = await deactivate();
    t.match(set, { value: { status: 'deactivated' }, seq: (await log.replicas()).seq });
    t.equal((await tenants.getSubAccount(parent, sub.id))?.status, 'deactivated');

    const { key } = await createKey(tenants, sub.id);
    const revoking = newRequest();
    const revoked = await tenants.once(revoking).revokeKey(sub.id, key.id);
    t.ok(revoked?.value.revokedAt);
    t.same(await tenants.once(revoking).revokeKey(sub.id, key.id), revoked);

    const suspending = newRequest(operatorCaller);
    for (let i = 0; i < 2; i++) {
      t.match(await tenants.once(suspending).setParentStatus(parent, 'suspended'), {
        value: { status: 'suspended' },
      });
    }
  });

  await t.test(
    'a name stands for one request of its caller, and for another one of somebody else',
    async (t) => {
      const parent = (await createParent(tenants)).id;
      const { value: sub } = await createSub(tenants, parent);
      const { key } = await createKey(tenants, sub.id);
      const request = newRequest();
      const other = { ...request, fingerprint: digestSecret('something else') };
      await tenants.once(request).createSubAccount(parent, subAccountDraft(), noLimit);
      const store = tenants.once(other);
      for (const mutate of [
        () => store.createSubAccount(parent, subAccountDraft(), noLimit),
        () => store.setSubAccountStatus(parent, sub.id, 'deactivated'),
        () => store.createKey(sub.id, keyDraft(), noLimit),
        () => store.revokeKey(sub.id, key.id),
        () => store.setParentStatus(parent, 'suspended'),
        () => store.createParent({ id: newAccountId(), name: 'x' }),
      ]) {
        t.equal(await problemCode(mutate()), 'idempotency_mismatch');
      }
      t.equal((await tenants.getSubAccount(parent, sub.id))?.status, 'active', 'nothing happened');
      t.equal((await tenants.getParent(parent))?.status, 'active');

      const theirs = { ...other, caller: otherCaller };
      t.notOk(
        'replayed' in (await tenants.once(theirs).createSubAccount(parent, subAccountDraft(), noLimit)),
      );
      const operators = { ...other, caller: operatorCaller } as const;
      t.notOk('replayed' in (await tenants.once(operators).createParent({ id: newAccountId(), name: 'x' })));
    },
  );

  await t.test('a refused request counts as not made', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { value: sub } = await createSub(tenants, parent, { externalId: 'taken' });
    const request = newRequest();
    const draft = subAccountDraft({ externalId: 'taken' });
    const create = () => tenants.once(request).createSubAccount(parent, draft, noLimit);
    t.same(await create(), { taken: sub.id });
    t.same(await tenants.once(request).createSubAccount(parent, subAccountDraft(), 1), { limit: 1 });
    t.equal(await tenants.once(request).createKey(newAccountId(), keyDraft(), noLimit), null);
    t.same(await tenants.once(request).createKey(parent, keyDraft(), 0), { limit: 0 });
    t.equal(await tenants.once(request).revokeKey(parent, newKeyId()), null);
    t.equal(await tenants.once(request).setSubAccountStatus(parent, newAccountId(), 'active'), null);
    t.equal(await tenants.once(request).setParentStatus(newAccountId(), 'active'), null);
    const anything = { ...request, fingerprint: digestSecret('not what was refused') };
    await tenants.updateSubAccount(parent, sub.id, { externalId: null });
    t.match(await tenants.once(anything).createSubAccount(parent, draft, noLimit), {
      value: { id: draft.id },
    });
  });

  await t.test(
    'of many at once one takes effect; the others are told of it, or that it is at work',
    async (t) => {
      const parent = (await createParent(tenants)).id;
      const request = newRequest();
      const answers = await Promise.allSettled(
        Array.from({ length: 20 }, () =>
          tenants.once(request).createSubAccount(parent, subAccountDraft(), noLimit),
        ),
      );
      const made = answers.flatMap((answer) =>
        answer.status === 'fulfilled' && 'value' in answer.value ? [answer.value] : [],
      );
      t.equal(made.filter(({ replayed }) => !replayed).length, 1);
      t.equal(new Set(made.map(({ value }) => value.id)).size, 1);
      for (const answer of answers) {
        if (answer.status === 'rejected')
          t.match(answer.reason, { problem: { code: 'idempotency_in_flight', retryAfter: 1 } });
      }
      t.equal((await tenants.listSubAccounts(parent, {}, { limit: 10 })).rows.length, 1);
    },
  );

  await t.test('a key that calls need not be known to the store any more', async (t) => {
    const parent = (await createParent(tenants)).id;
    const request = newRequest('00000000-0000-7000-8000-000000000000' as KeyId);
    t.match(await tenants.once(request).createSubAccount(parent, subAccountDraft(), noLimit), { value: {} });
  });
}
