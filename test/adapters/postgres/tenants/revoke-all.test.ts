// class: app
/** No key escapes a revoke of all keys of its account by being made at the same time. */
import t from 'tap';
import { digestSecret } from '../../../../src/domain/api-key.ts';
import type { AccountId } from '../../../../src/domain/ids.ts';
import type { Sql } from '../../../../src/adapters/postgres/connection/sql.ts';
import { keyDraft, newKeyId } from '../../../support/drafts.ts';
import { createKey, createParent, freshStore, rawSql, waitForLocks } from '../../../support/store.ts';

/** A statement ends when the test lets it. */
const { url, store, sql } = await freshStore(t, { deadlines: { queryMs: 120_000 }, maxConnections: 10 });
const { tenants } = store;
const looking = rawSql(t, url);

/** A transaction of a test. */
type Transaction = Parameters<Parameters<Sql['begin']>[1]>[0];

/** Statements that make a key of an account that has one already. */
const makers: Readonly<
  Record<string, (tx: Transaction, account: AccountId, old: string) => PromiseLike<unknown>>
> = {
  minted: (tx, account) => {
    const { id, digest, clientSecretDigest } = keyDraft();
    const hex = (of: typeof digest): string => `\\x${bytes(of).toString('hex')}`;
    const made = {
      id,
      name: 'k',
      scopes: [],
      digest: hex(digest),
      client_secret_digest: hex(clientSecretDigest),
    };
    const hints = { prefix: 'tgw_abcd', last4: 'wxyz' };
    return tx`select api_key_create('{}', ${account}, ${tx.json({ ...made, ...hints })}, 100)`;
  },
  rotated: (tx, account, old) => {
    const { id, digest, clientSecretDigest } = keyDraft();
    return tx`select api_key_rotate('{}', ${account}, ${old}, 60, ${id}, ${bytes(digest)}, ${bytes(clientSecretDigest)},
      'tgw_abcd', 'wxyz', null)`;
  },
  imported: (tx, account) => {
    const digest = `\\x${bytes(digestSecret(newKeyId())).toString('hex')}`;
    const keys = [{ id: newKeyId(), owner: account, name: 'k', scopes: [], digest }];
    return tx`select api_key_import('{}', ${account}, ${tx.json(keys)}, 100)`;
  },
};

for (const [made, make] of Object.entries(makers)) {
  t.test(`a key that is being ${made} is revoked with the others`, async (t) => {
    const { id } = await createParent(tenants);
    const { key } = await createKey(tenants, id);
    let revoked: Promise<unknown> | undefined;
    await sql.begin(async (tx) => {
      await make(tx, id, key.id);
      revoked = tenants.revokeAllKeys(id);
      await waitForLocks(looking, 1);
    });
    t.match(await revoked, { value: 2 });
    const { rows } = await tenants.listKeys(id, { limit: 10 });
    t.equal(rows.length, 2);
    t.ok(rows.every(({ revokedAt }) => revokedAt !== null));
  });
}

function bytes(digest: string): Buffer {
  return Buffer.from(digest, 'base64url');
}
