/** What a store does with sessions of the portal. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { ChangeCaller } from '../../src/ports/changes.ts';
import type { NewPortalSession } from '../../src/ports/portal-sessions.ts';
import { createKey, createParent } from '../support/store.ts';

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

  function draft(): NewPortalSession {
    return {
      ...{ id: randomUUID(), subAccountId: null, digest: randomBytes(32) },
      ...{ permissions: ['keys:read'], scopes: ['orders:read'], user: 'ada', returnUrl: null },
    };
  }

  await t.test('expired links and sessions are not found', async (t) => {
    const caller = await newCaller();
    const [late, brief] = [draft(), draft()];
    await sessions.create(late, -1, many, caller);
    t.equal(await sessions.redeem(late.digest, randomBytes(32), minute, ''), null);
    await sessions.create(brief, minute, many, caller);
    const token = randomBytes(32);
    await sessions.redeem(brief.digest, token, -1, '');
    t.equal(await sessions.find(token, ''), null);
  });

  await t.test('there is a key of their MAC', async (t) => {
    t.same(
      (await sessions.keys()).map(({ length }) => length),
      [32],
    );
  });

  await t.test('a parent has at most so many, without those that have expired', async (t) => {
    const caller = await newCaller();
    await sessions.create(draft(), -1, 1, caller);
    t.ok((await sessions.create(draft(), minute, 1, caller)) instanceof Date);
    t.same(await sessions.create(draft(), minute, 1, caller), { limit: 1 });
    t.ok((await sessions.create(draft(), minute, 1, await newCaller())) instanceof Date, 'another parent');
  });
}
