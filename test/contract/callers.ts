/** What becomes of a change whose caller has lost the right to it since the gateway decided. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { digestSecret } from '../../src/domain/api-key.ts';
import type { ProblemCode } from '../../src/domain/problem.ts';
import type { ChangeCaller, IdempotencyClaim } from '../../src/ports/changes.ts';
import { keyDraft, newAccountId, newClaim, newKeyId, subAccountDraft } from '../support/drafts.ts';
import { createKey, createParent, createSub, problemCode } from '../support/store.ts';

export async function callerContract(t: Test, { tenants, log }: Store): Promise<void> {
  const noLimit = 1_000;
  const inAnHour = new Date(Date.now() + 3_600_000);

  type World = Awaited<ReturnType<typeof newWorld>>;

  /** A parent with a key, and with a sub-account that has one. */
  async function newWorld(expiresAt: Date | null = null) {
    const parent = (await createParent(tenants)).id;
    const { key } = await createKey(tenants, parent, { expiresAt });
    const caller: ChangeCaller = { accountId: parent, keyId: key.id };
    const sub = (await createSub(tenants, parent, { externalId: 'old' })).value.id;
    const subKey = (await createKey(tenants, sub)).key.id;
    return { parent, caller, sub, subKey };
  }

  /** Every change that a parent can ask for, in an order in which each has an effect. */
  function changesOf(
    { parent, sub, subKey }: World,
    caller: ChangeCaller,
    claim: () => IdempotencyClaim | null,
  ) {
    const draft = subAccountDraft({ externalId: 'new' });
    const put = (externalId: string) =>
      tenants.putSubAccount(
        parent,
        externalId,
        { id: newAccountId(), name: 'Put', metadata: {} },
        noLimit,
        caller,
      );
    return {
      create: () => tenants.createSubAccount(parent, draft, noLimit, claim(), caller),
      patch: () => tenants.updateSubAccount(parent, sub, { name: 'New', externalId: 'other' }, caller),
      limit: () => tenants.updateSubAccount(parent, sub, { limits: { requestsPerSecond: 5 } }, caller),
      'limit a key': () => tenants.updateKey(sub, subKey, { limits: { requestsPerSecond: 5 } }, caller),
      put: () => put('put'),
      'put what is there': () => put('old'),
      deactivate: () => tenants.setSubAccountStatus(parent, sub, 'deactivated', claim(), caller),
      reactivate: () => tenants.setSubAccountStatus(parent, sub, 'active', claim(), caller),
      mint: () => tenants.createKey(sub, keyDraft(), noLimit, claim(), caller),
      rename: () => tenants.updateKey(sub, subKey, { name: 'New' }, caller),
      reschedule: () => tenants.updateKey(sub, subKey, { expiresAt: inAnHour }, caller),
      rotate: () => tenants.rotateKey(sub, subKey, { ...keyDraft(), overlapS: 60 }, claim(), caller),
      revoke: () => tenants.revokeKey(sub, subKey, claim(), caller),
      'revoke all': () => tenants.revokeAllKeys(sub, claim(), caller),
      close: () => tenants.setSubAccountStatus(parent, sub, 'deactivated', claim(), caller),
      delete: () => tenants.deleteSubAccount(parent, sub, caller),
    };
  }

  /** All that the changes could have changed. */
  async function everything({ parent, sub }: World): Promise<unknown> {
    const page = { limit: 100 };
    const [subs, keys] = [await tenants.listSubAccounts(parent, {}, page), await tenants.listKeys(sub, page)];
    return { subs, keys, position: (await log.replicas()).seq };
  }

  const ends: readonly [ProblemCode, (world: World) => Promise<ChangeCaller>, Date?][] = [
    [
      'api_key_revoked',
      async ({ parent, caller }) => tenants.revokeKey(parent, caller.keyId).then(() => caller),
    ],
    [
      // With its account.
      'api_key_revoked',
      async ({ parent, caller }) => {
        await tenants.setParentStatus(parent, 'suspended');
        await tenants.deleteParent(parent);
        return caller;
      },
    ],
    ['api_key_expired', async ({ caller }) => caller, new Date(Date.now() - 1)],
    [
      'account_suspended',
      async ({ parent, caller }) => tenants.setParentStatus(parent, 'suspended').then(() => caller),
    ],
    ['invalid_api_key', async ({ caller }) => ({ ...caller, keyId: newKeyId() })],
    ['invalid_api_key', async ({ caller }) => ({ ...caller, keyId: (await newWorld()).caller.keyId })],
  ];
  for (const [code, end, expiresAt] of ends) {
    await t.test(`a caller with ${code} changes nothing, with an Idempotency-Key or without`, async (t) => {
      const world = await newWorld(expiresAt);
      const caller = await end(world);
      const before = await everything(world);
      for (const claim of [() => null, () => newClaim(caller.keyId)]) {
        for (const [name, change] of Object.entries(changesOf(world, caller, claim)))
          t.equal(await problemCode(change()), code, name);
      }
      t.same(await everything(world), before);
    });
  }

  await t.test(
    'a revoked key gets no replay either, nor does it learn what its request clashes with',
    async (t) => {
      const world = await newWorld();
      const { parent, caller } = world;
      const claim = newClaim(caller.keyId);
      const create = (more = claim) =>
        tenants.createSubAccount(parent, subAccountDraft({ externalId: 'old' }), noLimit, more, caller);
      const first = () => tenants.createSubAccount(parent, subAccountDraft(), noLimit, claim, caller);
      t.match(await first(), { value: {} });
      t.match(await first(), { replayed: true });
      t.match(await create(newClaim(caller.keyId)), { taken: world.sub });
      await tenants.revokeKey(parent, caller.keyId);
      t.equal(await problemCode(first()), 'api_key_revoked');
      t.equal(await problemCode(create(newClaim(caller.keyId))), 'api_key_revoked');
      t.equal(await problemCode(create({ ...claim, fingerprint: digestSecret('other') })), 'api_key_revoked');
    },
  );

  await t.test(
    'what ended for one key goes on for others, and after a resume for the same one',
    async (t) => {
      const world = await newWorld();
      const { parent, caller } = world;
      const other = { ...caller, keyId: (await createKey(tenants, parent)).key.id };
      await tenants.revokeKey(parent, other.keyId);
      await tenants.setParentStatus(parent, 'suspended');
      await tenants.setParentStatus(parent, 'active');
      for (const [name, change] of Object.entries(changesOf(world, caller, () => newClaim(caller.keyId))))
        t.equal(await problemCode(change()), undefined, name);
      t.equal(await problemCode(changesOf(world, other, () => null).create()), 'api_key_revoked');
    },
  );
}
