/** Keys that were made elsewhere: all of them are imported or none, and replicas are told of each. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { factKey } from '../../src/ports/facts.ts';
import type { ImportedKeys, ImportRejected, KeyToImport } from '../../src/ports/api-keys.ts';
import { foreignKey, keyDraft, newAccountId, newClaim, newKeyId } from '../support/drafts.ts';
import { factOf, loggedBy } from '../support/logged.ts';
import { createKey, createParent, createSub } from '../support/store.ts';

const noLimit = 1_000_000;

export async function importKeysContract(t: Test, { tenants, log, facts }: Store): Promise<void> {
  const imported = async (...args: Parameters<typeof tenants.importKeys>): Promise<ImportedKeys> => {
    const outcome = await tenants.importKeys(...args);
    if (outcome === null || 'rejected' in outcome) throw new Error(JSON.stringify(outcome));
    return outcome.value;
  };
  const rejected = async (...args: Parameters<typeof tenants.importKeys>): Promise<ImportRejected> => {
    const outcome = await tenants.importKeys(...args);
    if (outcome === null || !('rejected' in outcome)) throw new Error(JSON.stringify(outcome));
    return outcome;
  };

  await t.test('keys belong to the parent and to its sub-accounts, in the order given', async (t) => {
    const { id } = await createParent(tenants);
    const { value: sub } = await createSub(tenants, id);
    const expiresAt = new Date(Date.now() + 60_000);
    const keys = [
      foreignKey(sub.id, { prefix: 'acme_', last4: 'wxyz', scopes: ['a:b', 'c'] }),
      foreignKey(id, { expiresAt, scopes: [] }),
      foreignKey(sub.id, { name: 'Another' }),
    ];
    const { imported: count, keys: made } = await imported(id, keys, noLimit);
    t.equal(count, 3);
    t.match(made, [
      { id: keys[0]?.id, accountId: sub.id, prefix: 'acme_', last4: 'wxyz', scopes: ['a:b', 'c'] },
      { id: keys[1]?.id, accountId: id, prefix: null, last4: null, expiresAt, scopes: [], revokedAt: null },
      { id: keys[2]?.id, accountId: sub.id, name: 'Another' },
    ]);
    const digest = keys[0]?.digest as KeyToImport['digest'];
    const fact = { keyId: keys[0]?.id, accountId: sub.id, revoked: false };
    t.match(await factOf(facts, factKey.key(digest)), fact);
    t.match((await tenants.revokeKey(id, made[1]?.id as KeyToImport['id']))?.value, { prefix: null });
  });

  await t.test('one import logs all its new keys at one position, and no other', async (t) => {
    const { id } = await createParent(tenants);
    const keys = Array.from({ length: 1_000 }, () => foreignKey(id));
    await imported(id, keys.slice(0, 10), noLimit);
    const {
      made: outcome,
      entries,
      keys: logged,
    } = await loggedBy(log, () => tenants.importKeys(id, keys, noLimit));
    if (outcome === null || 'rejected' in outcome) throw new Error('not imported');
    t.same(new Set(entries.map(({ seq }) => seq)), new Set([outcome.seq]));
    const added = keys.slice(10).map(({ digest }) => factKey.key(digest));
    t.same(logged, added.sort());
    t.ok(
      entries.every(({ revoked }) => !revoked),
      'no stream depends on a key that was unknown',
    );
    t.equal(outcome.value.imported, 990);
  });

  await t.test(
    'imported once more a key is left as it is, and the call waits for what brought it',
    async (t) => {
      const { id } = await createParent(tenants);
      const [key, other] = [foreignKey(id), foreignKey(id)];
      await imported(id, [key], noLimit);
      await tenants.revokeKey(id, key.id);
      const { seq: before } = await log.replicas();
      const again = await tenants.importKeys(id, [{ ...key, id: newKeyId(), name: 'New name' }], noLimit);
      t.match(again, { seq: before, value: { imported: 0, keys: [{ id: key.id, name: key.name }] } });
      t.equal((await log.replicas()).seq, before, 'nothing was logged');
      const both = await imported(id, [other, { ...key, id: newKeyId() }], noLimit);
      t.match(both, { imported: 1, keys: [{ id: other.id }, { id: key.id }] });
      t.ok(both.keys[1]?.revokedAt, 'a revoked key stays revoked');
    },
  );

  await t.test('what stands in the way is named whole, and nothing is imported then', async (t) => {
    const [{ id }, stranger] = [await createParent(tenants), await createParent(tenants)];
    const { value: sub } = await createSub(tenants, id);
    const { value: foreignSub } = await createSub(tenants, stranger.id);
    const taken = foreignKey(stranger.id);
    await imported(stranger.id, [taken], noLimit);
    const minted = await createKey(tenants, sub.id);
    const { seq: before } = await log.replicas();
    t.equal(await tenants.importKeys(newAccountId(), [foreignKey(id)], noLimit), null);
    t.equal(await tenants.importKeys(sub.id, [foreignKey(sub.id)], noLimit), null, 'no parent');
    const cases = [
      [
        [foreignSub.id, id, newAccountId(), stranger.id].map((owner) => foreignKey(owner)),
        { rejected: 'no-owner', positions: [0, 2, 3] },
      ],
      [
        [id, id, id, sub.id].map((owner, i) =>
          foreignKey(owner, i === 0 ? {} : { digest: i === 1 ? taken.digest : minted.digest }),
        ),
        { rejected: 'taken', positions: [1, 2] },
      ],
      [
        [sub.id, id, sub.id].map((owner) => foreignKey(owner)),
        { rejected: 'limit', limit: 2, positions: [0, 2] },
      ],
    ] as const;
    for (const [keys, outcome] of cases)
      t.same(await rejected(id, keys, 'limit' in outcome ? outcome.limit : noLimit), outcome);
    t.equal((await log.replicas()).seq, before);
    t.same((await tenants.listKeys(id, { limit: 10 })).rows, []);
    t.equal((await tenants.listKeys(sub.id, { limit: 10 })).rows.length, 1);
  });

  await t.test('of two imports of one key for two accounts exactly one wins', async (t) => {
    const parents = await Promise.all(Array.from({ length: 4 }, () => createParent(tenants)));
    const shared = Array.from({ length: 50 }, () => foreignKey(newAccountId()));
    const outcomes = await Promise.all(
      parents.map(({ id }) => {
        const own = shared.map((key) => ({ ...key, id: newKeyId(), owner: id }));
        return tenants.importKeys(id, own, noLimit);
      }),
    );
    t.equal(outcomes.filter((outcome) => outcome !== null && 'value' in outcome).length, 1);
    for (const outcome of outcomes)
      if (outcome !== null && 'rejected' in outcome)
        t.match(outcome, { rejected: 'taken', positions: { length: 50 } });
  });

  await t.test('the limit holds while keys are minted beside an import', async (t) => {
    const { id } = await createParent(tenants);
    await Promise.all([
      ...Array.from({ length: 4 }, () => tenants.importKeys(id, [foreignKey(id), foreignKey(id)], 5)),
      ...Array.from({ length: 4 }, () => tenants.createKey(id, keyDraft(), 5)),
    ]);
    t.ok((await tenants.listKeys(id, { limit: 100 })).rows.length <= 5);
  });

  await t.test('sent again with its claim, an import returns what it made, as it was then', async (t) => {
    const { id } = await createParent(tenants);
    const claim = newClaim('operator');
    const keys = [foreignKey(id), foreignKey(id)];
    await imported(id, keys, noLimit, claim);
    await tenants.revokeKey(id, keys[0]?.id as KeyToImport['id']);
    const again = await tenants.importKeys(id, keys, noLimit, claim);
    t.match(again, {
      replayed: true,
      seq: (await log.replicas()).seq,
      value: { imported: 2, keys: [{ id: keys[0]?.id, revokedAt: null }, { id: keys[1]?.id }] },
    });
  });
}
