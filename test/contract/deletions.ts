/** Deleted accounts: from the change on, nothing of them can be found, changed, used or made again. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { ApiKey } from '../../src/domain/api-key.ts';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import { operatorCaller, type Operator } from '../../src/ports/changes.ts';
import { factKey, type AccountFact } from '../../src/ports/facts.ts';
import type { TenantStore } from '../../src/ports/tenant-store.ts';
import { keyDraft, newAccountId, newClaim, subAccountDraft } from '../support/drafts.ts';
import { factOf, loggedBy } from '../support/logged.ts';
import { createKey, createParent, createSub, problemCode } from '../support/store.ts';

const most = 1_000;
const page = { limit: 100 };

export async function deletionContract(t: Test, store: Store): Promise<void> {
  await t.test('a sub-account', (t) => subAccountDeleted(t, store));
  await t.test('a parent', (t) => parentDeleted(t, store));
  await t.test('requests that come again', (t) => comeAgain(t, store));
}

async function subAccountDeleted(t: Test, { tenants, facts, log, events }: Store): Promise<void> {
  const operator: Operator = { operator: 'alice', requestId: 'r-1', address: '192.0.2.1' };

  await t.test('it must be deactivated first, and is then deleted by one position', async (t) => {
    const { id: parent } = await createParent(tenants);
    const { value: sub } = await createSub(tenants, parent, { externalId: 'gone' });
    const { key } = await createKey(tenants, sub.id);
    t.equal(await tenants.deleteSubAccount(parent, sub.id), 'still-active');
    t.ok(await tenants.getSubAccount(parent, sub.id), 'nothing was done');
    await tenants.setSubAccountStatus(parent, sub.id, 'deactivated');
    const remove = () => tenants.deleteSubAccount(parent, sub.id, operator);
    const { made, before, entries } = await loggedBy(log, remove);
    t.match(made, { seq: before + 1, alreadyGone: false });
    t.same(
      entries.map((entry) => [entry.key, entry.revoked]).sort(),
      [
        [factKey.account(sub.id), true],
        [factKey.externalId(parent, 'gone'), false],
      ].sort(),
    );
    t.match(await factOf(facts, factKey.account(sub.id)), { status: 'deleted', externalId: null });
    t.match((await events.list({ subAccount: sub.id }, page)).rows[0], {
      type: 'sub_account.deleted',
      accountId: parent,
      actor: { kind: 'operator', name: 'alice' },
      requestId: 'r-1',
      subject: { after: { id: sub.id, name: null, externalId: null }, before: null },
    });
    t.match(await remove(), { seq: before + 1, alreadyGone: true });
    await notThere(t, tenants, parent, sub.id, key.id);
    t.same((await tenants.listSubAccounts(parent, {}, page)).rows, []);
    t.equal(await tenants.deleteSubAccount(parent, newAccountId()), null);
    t.equal(await tenants.deleteSubAccount((await createParent(tenants)).id, sub.id), null, 'of another');
  });

  await t.test('its external_id and its place are free, its id and its keys are not', async (t) => {
    const { id: parent } = await createParent(tenants);
    const { value: sub } = await createSub(tenants, parent, { externalId: 'again' });
    const { key, digest } = await createKey(tenants, sub.id);
    await tenants.setSubAccountStatus(parent, sub.id, 'deactivated');
    await tenants.deleteSubAccount(parent, sub.id);

    const draft = { id: newAccountId(), name: 'New', metadata: {} };
    const put = await tenants.putSubAccount(parent, 'again', draft, 1);
    t.match(put, { created: true, value: { id: draft.id } }, 'within a limit of one');
    const taken = await tenants.createSubAccount(parent, subAccountDraft({ id: sub.id }), most);
    t.same(taken, { idTaken: true });
    t.same(await tenants.createParent({ id: sub.id, name: 'New' }), { idTaken: true });
    const imported = { ...keyDraft({ digest }), owner: draft.id };
    t.match(await tenants.importKeys(parent, [imported], most), { rejected: 'taken' });
    t.same((await tenants.findKeys({ id: key.id }, page)).rows, []);
  });
}

/** Checks that reads and changes of a deleted sub-account or its key do not find it. */
async function notThere(
  t: Test,
  tenants: TenantStore,
  parent: AccountId,
  sub: AccountId,
  key: KeyId,
): Promise<void> {
  t.equal(await tenants.getSubAccount(parent, sub), null);
  t.same((await tenants.listParents({ subAccount: sub }, page)).rows, []);
  t.same((await tenants.findKeys({ account: sub }, page)).rows, []);
  t.equal(await tenants.updateSubAccount(parent, sub, { name: 'Back' }), null);
  t.equal(await tenants.setSubAccountStatus(parent, sub, 'active'), null);
  t.equal(await tenants.revokeAllKeys(sub), null);
  t.equal(await tenants.revokeKey(sub, key), null);
  t.equal(await tenants.revokeKey(null, key), null);
  t.equal(await tenants.updateKey(sub, key, { name: 'Back' }), null);
  t.equal(await tenants.rotateKey(sub, key, { ...keyDraft(), overlapS: 0 }), null);
  t.equal(await tenants.createKey(sub, keyDraft(), most), null);
  const owned = tenants.createKey(sub, keyDraft(), most, null, undefined, parent);
  t.equal(await problemCode(owned), 'not_found');
  const imported = await tenants.importKeys(parent, [{ ...keyDraft(), owner: sub }], most);
  t.ok(imported === null || 'rejected' in imported);
}

async function parentDeleted(t: Test, { tenants, facts, log, events, erasures }: Store): Promise<void> {
  await t.test('it must be suspended first, and everything under it goes with it', async (t) => {
    const { id: parent } = await createParent(tenants, { externalId: `p-${newAccountId()}` });
    const { value: sub } = await createSub(tenants, parent, { externalId: 'sub' });
    const own = await createKey(tenants, parent);
    const { key } = await createKey(tenants, sub.id);
    t.equal(await tenants.deleteParent(parent), 'still-active');
    t.equal(await tenants.deleteParent(sub.id), null, 'a sub-account is not deleted as a parent');
    await tenants.setParentStatus(parent, 'suspended');
    const { seq: before } = await log.replicas();
    t.match(await tenants.deleteParent(parent), { seq: before + 1, alreadyGone: false });
    t.match(await tenants.deleteParent(parent), { seq: before + 1, alreadyGone: true });

    const read = (await facts.readFacts([factKey.account(sub.id)])).facts;
    t.equal((read.get(factKey.account(parent)) as AccountFact).status, 'deleted');
    t.equal(await tenants.getParent(parent), null);
    t.equal(await tenants.updateParent(parent, { name: 'Back' }), null);
    t.equal(await tenants.setParentStatus(parent, 'active'), null);
    const made = tenants.createSubAccount(parent, subAccountDraft(), most);
    t.equal(await problemCode(made), 'not_found');
    t.equal(await tenants.importKeys(parent, [{ ...keyDraft(), owner: parent }], most), null);
    t.equal(await tenants.deleteSubAccount(parent, sub.id), null);
    await notThere(t, tenants, parent, sub.id, key.id);
    t.equal(await tenants.revokeKey(null, own.key.id), null);
    t.notOk((await tenants.listParents({}, page)).rows.some(({ id }) => id === parent));
    t.match((await events.list({ account: parent }, page)).rows[0], { type: 'account.deleted' });
    t.match(await erasures.get(parent), { accountId: parent, parentId: null, erasedAt: null });
    t.match(await erasures.get(sub.id), { accountId: parent }, 'a sub-account is erased with its parent');
  });
}

async function comeAgain(t: Test, { tenants, erasures }: Store): Promise<void> {
  await t.test('neither create a deleted account again nor show it', async (t) => {
    const [making, minting, founding] = [newClaim(), newClaim(), newClaim(operatorCaller)];
    const { id: parent } = await createParent(tenants, {}, founding);
    const made = await tenants.createSubAccount(parent, subAccountDraft(), most, making);
    if (!('value' in made)) throw new Error('not created');
    await tenants.createKey(made.value.id, keyDraft(), most, minting);
    await tenants.setSubAccountStatus(parent, made.value.id, 'deactivated');
    await tenants.deleteSubAccount(parent, made.value.id);

    const again = () => tenants.createSubAccount(parent, subAccountDraft(), most, making);
    t.equal(await problemCode(again()), 'not_found');
    t.equal(await problemCode(tenants.createKey(made.value.id, keyDraft(), most, minting)), 'not_found');
    t.same((await tenants.listSubAccounts(parent, {}, page)).rows, []);

    await tenants.setParentStatus(parent, 'suspended');
    await tenants.deleteParent(parent);
    const refounded = tenants.createParent({ id: newAccountId(), name: 'Parent' }, founding);
    t.equal(await problemCode(refounded), 'not_found');

    while ((await erasures.run({ settledMs: 0, most: 100 })) !== null);
    t.equal(await problemCode(again()), 'not_found', 'the same once it has been erased');
    t.equal(
      await problemCode(tenants.createParent({ id: newAccountId(), name: 'Parent' }, founding)),
      'not_found',
    );
  });

  await t.test('show the import of keys as it was, but nothing of deleted accounts', async (t) => {
    const { id: parent } = await createParent(tenants);
    const [one, other] = [await createSub(tenants, parent), await createSub(tenants, parent)];
    const keys = [parent, one.value.id, other.value.id].map((owner) => ({ ...keyDraft(), owner }));
    const importing = newClaim();
    const imports = async (claimed = importing, drafts = keys): Promise<readonly ApiKey[]> => {
      const made = await tenants.importKeys(parent, drafts, most, claimed);
      if (made === null || !('value' in made)) throw new Error(`not imported: ${JSON.stringify(made)}`);
      return made.value.keys;
    };
    const remove = async (sub: AccountId): Promise<void> => {
      await tenants.setSubAccountStatus(parent, sub, 'deactivated');
      await tenants.deleteSubAccount(parent, sub);
    };
    const erase = async (): Promise<void> => {
      while ((await erasures.run({ settledMs: 0, most: 100 })) !== null);
    };
    const [own, first, second] = await imports();
    await remove(one.value.id);
    t.same(await imports(), [own, { ...first, name: '(deleted)' }, second], 'before the erasure');
    await erase();
    t.same(await imports(), [own, { ...first, name: '(deleted)' }, second], 'and after it');
    const another = { ...importing, fingerprint: newClaim().key };
    t.equal(await problemCode(imports(another)), 'idempotency_mismatch');

    const [ofOther, drafts] = [newClaim(), [{ ...keyDraft(), owner: other.value.id }]];
    await imports(ofOther, drafts);
    await remove(other.value.id);
    t.equal(await problemCode(imports(ofOther, drafts)), 'not_found', 'nothing is left');
    await erase();
    t.equal(await problemCode(imports(ofOther, drafts)), 'not_found');
    t.same(
      (await imports()).map(({ name }) => name),
      ['Key', '(deleted)', '(deleted)'],
    );
  });
}
