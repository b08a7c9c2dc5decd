import type { KeyDigest } from '../../../domain/api-key.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import { aboveEveryId, pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { committed, digestBytes, replayOf, type Changes } from './changes.ts';
import { toApiKey, type KeyRow } from './rows.ts';

type ApiKeys = Pick<TenantStore, 'createKey' | 'listKeys' | 'keyDigest' | 'revokeKey'>;

/** API keys of any account. */
export function apiKeys(db: Runner, changes: Changes): ApiKeys {
  return {
    async createKey(account, key, limit, claim = null, tenant) {
      const made = await changes.run<'none' | 'limit'>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation from api_key_create(
            ${request}, ${account}, ${key.id}, ${key.name}, ${sql.json(key.scopes)}, ${digestBytes(key.digest)},
            ${digestBytes(key.clientSecretDigest)}, ${key.prefix}, ${key.last4}, ${key.expiresAt}, ${limit}
          ) c`,
        tenant,
      );
      if (made.outcome === 'none') return null;
      return made.outcome === 'limit' ? { limit } : { ...toApiKey(made.key), ...replayOf(made) };
    },

    async listKeys(account, { limit, after = aboveEveryId }, tenant) {
      const rows = await db.run(
        (sql) => sql<{ readonly key: KeyRow }[]>`
          select api_key_json(k) as key from api_key k
          where account_id >= ${account} and (account_id, id) < (${account}, ${after})
          order by account_id desc, id desc limit ${limit + 1}`,
        tenant,
      );
      return pageOf(rows, limit, (row) => toApiKey(row.key));
    },

    // Operators have the id of a key; decisions know it by its digest.
    async keyDigest(id) {
      const [row] = await db.run(
        (sql) => sql<{ readonly digest: Buffer }[]>`select digest from api_key where id = ${id}`,
      );
      return row === undefined ? null : (row.digest.toString('base64url') as KeyDigest);
    },

    async revokeKey(account, key, claim = null, tenant) {
      const revoked = await changes.run<'none'>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation from api_key_revoke(${request}, ${account}, ${key}) c`,
        tenant,
      );
      return revoked.outcome === 'none' ? null : committed(revoked, toApiKey(revoked.key));
    },
  };
}
