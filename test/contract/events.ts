/** Every change leaves one event, in its own transaction, and what changes nothing leaves none. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { Event } from '../../src/domain/event.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { ChangedBy, Operator } from '../../src/ports/changes.ts';
import {
  foreignKey,
  keyDraft,
  newAccountId,
  newClaim,
  newKeyId,
  subAccountDraft,
} from '../support/drafts.ts';
import { createKey, createParent, createSub } from '../support/store.ts';

const noLimit = 1_000_000;
const most = { limit: 100 };

export async function eventContract(t: Test, { tenants, events }: Store): Promise<void> {
  const operator: Operator = { operator: 'alice', requestId: 'r-1', address: '192.0.2.1' };

  /** The events of a parent, oldest first. */
  async function eventsOf(account: AccountId): Promise<readonly Event[]> {
    return (await events.list({ account }, most)).rows.toReversed();
  }

  /** The events that `change` leaves of a parent. */
  async function left(account: AccountId, change: () => Promise<unknown>): Promise<readonly Event[]> {
    const before = (await eventsOf(account)).length;
    await change();
    return (await eventsOf(account)).slice(before);
  }

  await t.test('a parent and what operators do to it', async (t) => {
    const id = newAccountId();
    const made = { id, name: 'First', externalId: `events-${id}`, metadata: { tier: 'gold' } };
    const actor = { kind: 'operator', keyId: null, name: 'alice' };
    const about = { accountId: id, subAccountId: null, actor, requestId: 'r-1', address: '192.0.2.1' };
    const later = (metadata: Record<string, string | null>) => ({ name: 'Second', metadata });

    t.match(await left(id, () => tenants.createParent(made, null, operator)), [
      {
        ...about,
        type: 'account.created',
        subject: { kind: 'account', after: { ...made, status: 'active' }, before: null },
      },
    ]);
    t.match(await left(id, () => tenants.updateParent(id, later({ tier: null, region: 'eu' }), operator)), [
      {
        ...about,
        type: 'account.updated',
        subject: {
          after: { name: 'Second', metadata: { region: 'eu' } },
          before: { name: 'First', metadata: { tier: 'gold' }, status: 'active' },
        },
      },
    ]);
    t.match(await left(id, () => tenants.setParentStatus(id, 'suspended', null, operator)), [
      { ...about, type: 'account.suspended', subject: { before: { status: 'active', name: 'Second' } } },
    ]);
    t.match(await left(id, () => tenants.setParentStatus(id, 'active', null, operator)), [
      { ...about, type: 'account.resumed', subject: { before: { status: 'suspended' } } },
    ]);

    t.same(await left(id, () => tenants.updateParent(id, later({ region: 'eu' }), operator)), []);
    t.same(await left(id, () => tenants.setParentStatus(id, 'active', null, operator)), []);
    t.same(await left(id, () => tenants.createParent(made, null, operator)), [], 'the id is taken');
  });

  await t.test("sub-accounts and keys, by a parent's key", async (t) => {
    const { id } = await createParent(tenants);
    const { key: parentKey } = await createKey(tenants, id, { name: 'Deploy' });
    const by: ChangedBy = { accountId: id, keyId: parentKey.id, requestId: 'r-2', address: '2001:db8::1' };
    const draft = subAccountDraft({ externalId: 'one' });
    const about = {
      accountId: id,
      subAccountId: draft.id,
      actor: { kind: 'api_key', keyId: parentKey.id, name: 'Deploy' },
      requestId: 'r-2',
      address: '2001:db8::1',
    };
    const create = () => tenants.createSubAccount(id, draft, noLimit, null, by);
    const update = () => tenants.updateSubAccount(id, draft.id, { externalId: 'two' }, by);
    const set = (status: 'active' | 'deactivated') =>
      tenants.setSubAccountStatus(id, draft.id, status, null, by);
    const key = keyDraft({ name: 'Robot' });
    const revoke = () => tenants.revokeKey(draft.id, key.id, null, by);

    t.match(await left(id, create), [
      { ...about, type: 'sub_account.created', subject: { kind: 'sub_account', before: null } },
    ]);
    t.match(await left(id, update), [
      {
        ...about,
        type: 'sub_account.updated',
        subject: { after: { externalId: 'two' }, before: { externalId: 'one', name: draft.name } },
      },
    ]);
    t.match(await left(id, () => set('deactivated')), [
      {
        ...about,
        type: 'sub_account.deactivated',
        subject: { after: { deactivatedAt: Date }, before: { status: 'active', deactivatedAt: null } },
      },
    ]);
    t.match(await left(id, () => set('active')), [{ ...about, type: 'sub_account.reactivated' }]);
    t.match(await left(id, () => tenants.createKey(draft.id, key, noLimit, null, by)), [
      {
        ...about,
        type: 'api_key.created',
        subject: { kind: 'api_key', after: { id: key.id, accountId: draft.id, name: 'Robot' }, before: null },
      },
    ]);
    t.match(await left(id, revoke), [
      {
        ...about,
        type: 'api_key.revoked',
        subject: { after: { revokedAt: Date }, before: { revokedAt: null } },
      },
    ]);

    for (const again of [update, () => set('active'), revoke]) t.same(await left(id, again), []);
    for (const refused of [
      () => tenants.createSubAccount(id, subAccountDraft({ externalId: 'two' }), noLimit, null, by),
      () => tenants.createSubAccount(id, subAccountDraft(), 1, null, by),
      () => tenants.createKey(draft.id, keyDraft(), 0, null, by),
      () => tenants.revokeKey(draft.id, newKeyId(), null, by),
      () =>
        tenants
          .createSubAccount(id, subAccountDraft(), noLimit, null, { ...by, keyId: newKeyId() })
          .catch(() => null),
    ])
      t.same(await left(id, refused), []);
  });

  await t.test('a request that is sent again leaves no second event', async (t) => {
    const { id } = await createParent(tenants);
    const sub = (await createSub(tenants, id)).value.id;
    const { key } = await createKey(tenants, id);
    const by: ChangedBy = { accountId: id, keyId: key.id };
    const [draft, minted] = [subAccountDraft(), keyDraft()];
    const claims = Array.from({ length: 3 }, () => newClaim(key.id));
    const all = async () => {
      await tenants.createSubAccount(id, draft, noLimit, claims[0], by);
      await tenants.setSubAccountStatus(id, sub, 'deactivated', claims[1], by);
      await tenants.createKey(sub, minted, noLimit, claims[2], by);
    };
    t.equal((await left(id, all)).length, 3);
    await tenants.setSubAccountStatus(id, sub, 'active');
    t.same(await left(id, all), []);
  });

  await t.test(
    'an import leaves one event for each new key, and all of them have ids that ascend',
    async (t) => {
      const { id } = await createParent(tenants);
      const sub = (await createSub(tenants, id)).value.id;
      const keys = Array.from({ length: 20 }, (_, i) => foreignKey(i % 2 === 0 ? id : sub));
      await tenants.importKeys(id, keys.slice(0, 5), noLimit, null, operator);
      const made = await left(id, () => tenants.importKeys(id, keys, noLimit, null, operator));
      t.same(
        made.map(({ subject }) => 'id' in subject.after && subject.after.id),
        keys.slice(5).map((key) => key.id),
      );
      t.same(
        made.map(({ subAccountId }) => subAccountId),
        keys.slice(5).map(({ owner }) => (owner === sub ? sub : null)),
      );
      t.ok(made.every(({ type, actor }) => type === 'api_key.created' && actor.name === 'alice'));
      t.same(await left(id, () => tenants.importKeys(id, keys, noLimit, null, operator)), []);
      const mixed = [...keys.slice(0, 1), foreignKey(newAccountId())];
      t.same(await left(id, () => tenants.importKeys(id, mixed, noLimit, null, operator)), [], 'all or none');
    },
  );

  await t.test('a change without a request is of the system', async (t) => {
    const { id } = await createParent(tenants);
    const nobody = { actor: { kind: 'system', keyId: null, name: null }, requestId: null, address: null };
    t.match(await eventsOf(id), [{ type: 'account.created', ...nobody }]);
    await tenants.createParent({ id: newAccountId(), name: 'Other' }, null, operator);
    await tenants.setParentStatus(id, 'suspended');
    t.match(
      (await eventsOf(id)).at(-1),
      { type: 'account.suspended', ...nobody },
      'nothing stays in the session',
    );
  });
}
