/** All keys of an account, revoked by one call. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { Operator } from '../../src/ports/changes.ts';
import { factKey } from '../../src/ports/facts.ts';
import { newAccountId, newClaim } from '../support/drafts.ts';
import { loggedBy } from '../support/logged.ts';
import { createKey, createParent, createSub } from '../support/store.ts';

export async function revokeAllContract(t: Test, { tenants, log, events }: Store): Promise<void> {
  const operator: Operator = { operator: 'alice', requestId: 'r-1', address: '192.0.2.1' };

  async function revokedIds(account: AccountId): Promise<readonly string[]> {
    const { rows } = await tenants.listKeys(account, { limit: 100, status: 'revoked' });
    return rows.map(({ id }) => id).toReversed();
  }

  await t.test('all keys of the account are revoked at one position, with an event each', async (t) => {
    const { id: parent } = await createParent(tenants);
    const [sub, other] = [
      (await createSub(tenants, parent)).value.id,
      (await createSub(tenants, parent)).value.id,
    ];
    const gone = await createKey(tenants, sub);
    await tenants.revokeKey(sub, gone.key.id);
    const made = [
      await createKey(tenants, sub),
      await createKey(tenants, sub, { expiresAt: new Date(Date.now() - 1_000) }),
      await createKey(tenants, sub),
    ];
    const elsewhere = [await createKey(tenants, other), await createKey(tenants, parent)];
    const eventsBefore = (await events.list({ account: parent }, { limit: 100 })).rows.length;

    const revoke = () => tenants.revokeAllKeys(sub, null, operator);
    const { made: revoked, before, entries } = await loggedBy(log, revoke);
    t.match(revoked, { value: 3, seq: before + 1 });
    t.same(
      new Set(entries.map((entry) => [entry.seq, entry.key, entry.revoked].join(' '))),
      new Set(made.map(({ digest }) => [before + 1, factKey.key(digest), true].join(' '))),
    );
    t.same(
      await revokedIds(sub),
      [gone, ...made].map(({ key }) => key.id),
    );
    for (const { key } of elsewhere)
      t.equal((await tenants.getKey(key.accountId, key.id))?.revokedAt, null, 'of another account');

    const left = (await events.list({ account: parent }, { limit: 100 })).rows.toReversed();
    t.match(
      left.slice(eventsBefore),
      made.map(({ key }) => ({
        type: 'api_key.revoked',
        subAccountId: sub,
        actor: { kind: 'operator', name: 'alice' },
        requestId: 'r-1',
        subject: { after: { id: key.id, revokedAt: Date }, before: { revokedAt: null } },
      })),
    );
    t.equal(left.length, eventsBefore + made.length);
  });

  await t.test('once more it changes nothing, and waits for what did', async (t) => {
    const { id } = await createParent(tenants);
    await createKey(tenants, id);
    t.match(await tenants.revokeAllKeys(id), { value: 1 });
    const { seq } = await log.replicas();
    t.match(await tenants.revokeAllKeys(id), { value: 0, seq });
    t.equal((await log.replicas()).seq, seq);
    t.match(await tenants.revokeAllKeys((await createParent(tenants)).id), { value: 0, seq }, 'no keys');
    t.equal(await tenants.revokeAllKeys(newAccountId()), null, 'no account');
  });

  await t.test('a request that comes again revokes no key that was made since', async (t) => {
    const { id } = await createParent(tenants);
    await createKey(tenants, id);
    const claim = newClaim();
    const first = await tenants.revokeAllKeys(id, claim);
    t.match(first, { value: 1 });
    const { key } = await createKey(tenants, id);
    t.match(await tenants.revokeAllKeys(id, claim), { value: 1, replayed: true });
    t.equal((await tenants.getKey(id, key.id))?.revokedAt, null);
  });
}
