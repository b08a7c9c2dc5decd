/** What a store does with sessions of the portal. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { ChangeCaller } from '../../src/ports/changes.ts';
import type { NewPortalSession } from '../../src/ports/portal-sessions.ts';
import { createKey, createParent, createSub, problemCode } from '../support/store.ts';

export async function portalSessionContract(
  t: Test,
  { tenants, portalSessions: sessions }: Store,
): Promise<void> {
  const many = 1_000;
  const minute = 60_000;

  async function newCaller(): Promise<ChangeCaller> {
    const accountId = (await createParent(tenants)).id;
    return { accountId, keyId: (await createKey(tenants, accountId)).key.id };
  }

  function draft(subAccountId: AccountId | null = null): NewPortalSession {
    return {
      ...{ id: randomUUID(), subAccountId, digest: randomBytes(32) },
      ...{ permissions: ['keys:read'], scopes: ['orders:read'], user: 'ada', returnUrl: null },
    };
  }

  await t.test('a link is redeemed once, for a session that is found until it ends', async (t) => {
    const caller = await newCaller();
    const session = draft();
    const expiresAt = await sessions.create(session, minute, many, caller);
    t.ok(expiresAt instanceof Date);
    const token = randomBytes(32);
    t.equal(await sessions.find(session.digest), null, 'a link is no token');
    const redeemed = await sessions.redeem(session.digest, token, minute);
    t.match(redeemed, {
      ...{ id: session.id, account: { id: caller.accountId }, subAccount: null, keyId: caller.keyId },
      ...{ permissions: ['keys:read'], scopes: ['orders:read'], user: 'ada', returnUrl: null },
    });
    t.equal(await sessions.redeem(session.digest, randomBytes(32), minute), null);
    t.same(await sessions.find(token), redeemed);
    t.notOk(await sessions.end(session.id, (await newCaller()).accountId), 'another parent');
    t.ok(await sessions.end(session.id, caller.accountId));
    t.equal(await sessions.find(token), null);
    t.notOk(await sessions.end(session.id, caller.accountId));
  });

  await t.test('expired links and sessions are not found', async (t) => {
    const caller = await newCaller();
    const [late, brief] = [draft(), draft()];
    await sessions.create(late, -1, many, caller);
    t.equal(await sessions.redeem(late.digest, randomBytes(32), minute), null);
    await sessions.create(brief, minute, many, caller);
    const token = randomBytes(32);
    await sessions.redeem(brief.digest, token, -1);
    t.equal(await sessions.find(token), null);
  });

  await t.test('a parent has at most so many, without those that have expired', async (t) => {
    const caller = await newCaller();
    await sessions.create(draft(), -1, 1, caller);
    t.ok((await sessions.create(draft(), minute, 1, caller)) instanceof Date);
    t.same(await sessions.create(draft(), minute, 1, caller), { limit: 1 });
    t.ok((await sessions.create(draft(), minute, 1, await newCaller())) instanceof Date, 'another parent');
  });

  await t.test(
    'a session is for a sub-account of the parent, and closed while it is deactivated',
    async (t) => {
      const caller = await newCaller();
      const sub = (await createSub(tenants, caller.accountId)).value;
      const other = (await createSub(tenants, (await newCaller()).accountId)).value;
      t.equal(await sessions.create(draft(other.id), minute, many, caller), null);
      const session = draft(sub.id);
      await sessions.create(session, minute, many, caller);
      const token = randomBytes(32);
      const redeemed = await sessions.redeem(session.digest, token, minute);
      t.equal(redeemed?.subAccount?.name, sub.name);
      await tenants.setSubAccountStatus(caller.accountId, sub.id, 'deactivated', null, caller);
      t.equal(await sessions.find(token), null);
      t.equal(await problemCode(sessions.create(draft(sub.id), minute, many, caller)), 'account_deactivated');
      await tenants.setSubAccountStatus(caller.accountId, sub.id, 'active', null, caller);
      t.not(await sessions.find(token), null);
    },
  );

  await t.test('a change of a session that has ended is not made', async (t) => {
    const caller = await newCaller();
    const sub = (await createSub(tenants, caller.accountId)).value.id;
    const session = draft(sub);
    await sessions.create(session, minute, many, caller);
    const inPortal = { ...caller, portalSession: session.id };
    const change = () => tenants.setSubAccountStatus(caller.accountId, sub, 'active', null, inPortal);
    t.equal(await problemCode(change()), 'unauthenticated', 'a link alone changes nothing');
    await sessions.redeem(session.digest, randomBytes(32), minute);
    await change();
    await sessions.end(session.id, caller.accountId);
    t.equal(await problemCode(change()), 'unauthenticated');
  });
}
