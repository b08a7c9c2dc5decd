import type { KeyDigest } from '../../../domain/api-key.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import { aboveEveryId, pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { statusCondition } from './held-keys.ts';
import { toApiKey, type KeyRow } from './rows.ts';

/** Reads an account's API keys, and any key's digest. */
export function keyLookups(db: Runner): Pick<TenantStore, 'listKeys' | 'getKey' | 'keyDigest'> {
  return {
    async listKeys(account, { limit, after = aboveEveryId, status }, tenant) {
      const rows = await db.run(
        (sql) => sql<{ readonly key: KeyRow }[]>`
          select api_key_shown(to_jsonb(k)) as key from api_key k
          where account_id >= ${account} and (account_id, id) < (${account}, ${after})
            ${status === undefined ? sql`` : statusCondition(sql, status)}
          order by account_id desc, id desc limit ${limit + 1}`,
        tenant,
      );
      return pageOf(rows, limit, (row) => toApiKey(row.key));
    },

    async getKey(account, id, tenant) {
      const [row] = await db.run(
        (sql) => sql<{ readonly key: KeyRow }[]>`
          select api_key_shown(to_jsonb(k)) as key from api_key k where id = ${id} and account_id = ${account}`,
        tenant,
      );
      return row === undefined ? null : toApiKey(row.key);
    },

    // Operators refer to a key by its id, but its fact is named after its digest.
    async keyDigest(id) {
      const [row] = await db.run(
        (sql) => sql<{ readonly digest: Buffer }[]>`select digest from api_key where id = ${id}`,
      );
      return row === undefined ? null : (row.digest.toString('base64url') as KeyDigest);
    },
  };
}
