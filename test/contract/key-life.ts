/** What becomes of a key after it was made: another name, another expiry, another key in its place. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { ApiKey } from '../../src/domain/api-key.ts';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import type { KeyRotated, KeyRotation } from '../../src/ports/api-keys.ts';
import { factKey } from '../../src/ports/facts.ts';
import type { Committed } from '../../src/ports/tenant-store.ts';
import { foreignKey, keyDraft, newAccountId, newClaim, newKeyId } from '../support/drafts.ts';
import { eventually } from '../support/eventually.ts';
import { factOf, loggedBy } from '../support/logged.ts';
import { createKey, createParent, createSub } from '../support/store.ts';

export async function keyLifeContract(t: Test, { tenants, log, facts }: Store): Promise<void> {
  const inAnHour = new Date(Date.now() + 3_600_000);
  const inADay = new Date(Date.now() + 86_400_000);

  function rotation(overlapS: number, more: Partial<KeyRotation> = {}): KeyRotation {
    const { name: _name, scopes: _scopes, ...made } = keyDraft();
    return { ...made, overlapS, ...more };
  }

  /** What was done, with what it logged. */
  async function observe(change: () => Promise<Committed<ApiKey> | KeyRotated | 'inactive' | null>) {
    const { made, before, entries } = await loggedBy(log, change);
    if (made === null || made === 'inactive' || 'newest' in made) throw new Error('not done');
    return { ...made, before, logged: entries };
  }

  /** A key that has expired. */
  async function expiredKey(account: AccountId): Promise<ApiKey> {
    return (await createKey(tenants, account, { expiresAt: new Date(Date.now() - 1_000) })).key;
  }

  await t.test('keys are listed by what they are right now', async (t) => {
    const { id } = await createParent(tenants);
    const active = [
      (await createKey(tenants, id)).key,
      (await createKey(tenants, id, { expiresAt: inAnHour })).key,
    ];
    const expired = await expiredKey(id);
    const { key: revoked } = await createKey(tenants, id, { expiresAt: inAnHour });
    await tenants.revokeKey(id, revoked.id);
    const ids = async (status: 'active' | 'expired' | 'revoked') =>
      (await tenants.listKeys(id, { limit: 10, status })).rows.map((key) => key.id);
    t.same(await ids('active'), active.map((key) => key.id).reverse());
    t.same(await ids('expired'), [expired.id]);
    t.same(await ids('revoked'), [revoked.id]);
    const page = await tenants.listKeys(id, { limit: 1, status: 'active' });
    t.equal(page.hasMore, true);
    t.match(await tenants.listKeys(id, { limit: 1, status: 'active', after: String(page.rows[0]?.id) }), {
      rows: [{ id: active[0]?.id }],
      hasMore: false,
    });
  });

  await t.test('a new name changes no decision, another expiry does, whichever way it moves', async (t) => {
    const { id } = await createParent(tenants);
    const { key, digest } = await createKey(tenants, id, { name: 'Old', expiresAt: inADay });
    const logKey = factKey.key(digest);
    const renamed = await observe(() => tenants.updateKey(id, key.id, { name: 'New' }));
    t.match(renamed, { value: { name: 'New', expiresAt: inADay }, seq: null, logged: [] });
    for (const expiresAt of [inAnHour, inADay, null]) {
      const moved = await observe(() => tenants.updateKey(id, key.id, { expiresAt }));
      t.match(moved, { value: { name: 'New', expiresAt }, logged: [{ key: logKey, seq: moved.seq }] });
      t.equal(moved.logged[0]?.revoked, false, 'streams that depend on it go on');
      t.match(await factOf(facts, logKey), { expiresAtMs: expiresAt?.getTime() ?? null });
      const again = await observe(() => tenants.updateKey(id, key.id, { expiresAt, name: 'Again' }));
      t.match(again, { seq: again.before, logged: [] }, 'waits for what made it so');
      await tenants.updateKey(id, key.id, { name: 'New' });
    }
    t.equal(await tenants.updateKey(newAccountId(), key.id, { name: 'New' }), null);
    t.equal(await tenants.updateKey(id, newKeyId(), { expiresAt: null }), null);
  });

  await t.test(
    'a key that is revoked or has expired gets another name, but never another expiry',
    async (t) => {
      const { id } = await createParent(tenants);
      const { key: revoked } = await createKey(tenants, id);
      await tenants.revokeKey(id, revoked.id);
      for (const key of [revoked, await expiredKey(id)]) {
        const { seq } = await log.replicas();
        t.equal(await tenants.updateKey(id, key.id, { expiresAt: inAnHour, name: 'New' }), 'inactive');
        t.equal(await tenants.rotateKey(id, key.id, rotation(0)), 'inactive');
        t.equal(await tenants.rotateKey(id, key.id, rotation(60)), 'inactive');
        t.match(await tenants.updateKey(id, key.id, { name: 'New', expiresAt: key.expiresAt }), {
          value: { name: 'New', expiresAt: key.expiresAt },
        });
        t.equal((await log.replicas()).seq, seq);
      }
      t.equal((await tenants.listKeys(id, { limit: 10 })).rows.length, 2);
    },
  );

  await t.test('rotated with no overlap, the old key is revoked and the new one is as it was', async (t) => {
    const { id } = await createParent(tenants);
    const { key, digest } = await createKey(tenants, id, {
      name: 'CI',
      scopes: ['a:b', 'c'],
      expiresAt: inADay,
    });
    const draft = rotation(0);
    const rotated = await observe(() => tenants.rotateKey(id, key.id, draft));
    const { overlapS: _overlap, digest: newDigest, clientSecretDigest: _secret, ...visible } = draft;
    t.match(rotated.value, { ...visible, accountId: id, name: 'CI', scopes: ['a:b', 'c'] });
    t.same([rotated.value.rotatedFrom, rotated.value.expiresAt], [key.id, null]);
    t.same(rotated.logged, [{ key: factKey.key(digest), revoked: true, seq: rotated.seq }]);
    t.match(await tenants.getKey(id, key.id), { revokedAt: Date, expiresAt: inADay, rotatedFrom: null });
    t.same(await tenants.getKey(id, draft.id), rotated.value);
    t.match(await factOf(facts, factKey.key(newDigest)), { keyId: draft.id, revoked: false });
    t.equal(await tenants.rotateKey(newAccountId(), draft.id, rotation(0)), null);
    t.equal(await tenants.rotateKey(id, newKeyId(), rotation(0)), null);
  });

  await t.test(
    'rotated with an overlap, the old key expires after it, or when it was to expire before',
    async (t) => {
      const { id } = await createParent(tenants);
      for (const expiresAt of [null, inADay]) {
        const { key, digest } = await createKey(tenants, id, { expiresAt });
        const beforeMs = Date.now();
        const rotated = await observe(() =>
          tenants.rotateKey(id, key.id, rotation(600, { expiresAt: inAnHour })),
        );
        t.same(rotated.logged, [{ key: factKey.key(digest), revoked: false, seq: rotated.seq }]);
        t.same(rotated.value.expiresAt, inAnHour);
        const old = await tenants.getKey(id, key.id);
        const endsMs = old?.expiresAt?.getTime() ?? NaN;
        t.equal(old?.revokedAt, null);
        t.ok(endsMs >= beforeMs + 599_000 && endsMs <= Date.now() + 601_000, 'by the clock of this machine');
      }
      const { key: soon } = await createKey(tenants, id, { expiresAt: inAnHour });
      t.match(await observe(() => tenants.rotateKey(id, soon.id, rotation(7200))), { seq: null, logged: [] });
      t.same((await tenants.getKey(id, soon.id))?.expiresAt, inAnHour);
    },
  );

  await t.test('a rotation that comes again makes no other key, and waits for the first one', async (t) => {
    const { id } = await createParent(tenants);
    const { key } = await createKey(tenants, id);
    const claim = newClaim();
    const first = await observe(() => tenants.rotateKey(id, key.id, rotation(0), claim));
    await tenants.revokeKey(id, first.value.id);
    const again = await observe(() => tenants.rotateKey(id, key.id, rotation(0), claim));
    t.match(again, { value: first.value, replayed: true, seq: again.before, logged: [] });
    t.equal((await tenants.listKeys(id, { limit: 10 })).rows.length, 2);
  });

  await t.test('of rotations of one key at once one alone is made', async (t) => {
    const { id } = await createParent(tenants);
    const { key } = await createKey(tenants, id);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => tenants.rotateKey(id, key.id, rotation(0))),
    );
    t.equal(outcomes.filter((outcome) => outcome === 'inactive').length, 5);
    t.equal((await tenants.listKeys(id, { limit: 10, status: 'active' })).rows.length, 1);
  });

  await t.test('at most two keys of a rotation are active, whichever of them is rotated', async (t) => {
    const { id } = await createParent(tenants);
    const { key: first } = await createKey(tenants, id);
    const active = async (): Promise<readonly string[]> =>
      (await tenants.listKeys(id, { limit: 10, status: 'active' })).rows.map((key) => key.id);
    const rotated = async (key: KeyId, overlapS: number): Promise<KeyId> =>
      (await observe(() => tenants.rotateKey(id, key, rotation(overlapS)))).value.id;
    const second = await rotated(first.id, 600);
    for (const key of [first.id, second])
      t.same(await tenants.rotateKey(id, key, rotation(600)), { newest: second });
    t.same(await active(), [second, first.id]);
    const third = await rotated(second, 0);
    t.same(await active(), [third, first.id]);
    t.same(await tenants.rotateKey(id, first.id, rotation(60)), { newest: third });
    await tenants.revokeKey(id, first.id);
    const fourth = await rotated(third, 600);
    t.same(await active(), [fourth, third]);
    t.ok(await createKey(tenants, id), 'another key is none of them');
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => tenants.rotateKey(id, fourth, rotation(600))),
    );
    t.ok(outcomes.every((outcome) => outcome !== null && typeof outcome === 'object' && 'newest' in outcome));
  });

  await t.test('revoked and expired keys make room, and a rotation needs none', async (t) => {
    const { id } = await createParent(tenants);
    const { value: sub } = await createSub(tenants, id);
    const mint = (more = {}) => tenants.createKey(sub.id, keyDraft(more), 2);
    const last = (await createKey(tenants, sub.id)).key;
    await createKey(tenants, sub.id);
    t.same(await mint(), { limit: 2 });
    const rotated = await tenants.rotateKey(sub.id, last.id, rotation(2_592_000));
    t.match(rotated, { value: { rotatedFrom: last.id } });
    t.same(await mint(), { limit: 2 });

    const { value: other } = await createSub(tenants, id);
    for (let i = 0; i < 3; i++) await expiredKey(other.id);
    const { key: soon } = await createKey(tenants, other.id, { expiresAt: new Date(Date.now() + 50) });
    await eventually(
      async () => (await tenants.listKeys(other.id, { limit: 9, status: 'active' })).rows.length === 0,
    );
    const foreign = [1, 2, 3].map(() => foreignKey(other.id));
    t.match(await tenants.importKeys(id, foreign, 2), { rejected: 'limit' });
    t.match(await tenants.importKeys(id, foreign.slice(2), 2), { value: { imported: 1 } });
    t.match(await tenants.createKey(other.id, keyDraft(), 2), { accountId: other.id });
    t.same(await tenants.createKey(other.id, keyDraft(), 2), { limit: 2 });
    t.equal((await tenants.getKey(other.id, soon.id))?.revokedAt, null, 'it is expired, and stays there');
  });
}
