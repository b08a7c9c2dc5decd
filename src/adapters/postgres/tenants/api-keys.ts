import type { KeyDigest } from '../../../domain/api-key.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import type { Hints } from '../coherence/hints.ts';
import { aboveEveryId, pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { toApiKey, type KeyRow } from './rows.ts';

type ApiKeys = Pick<TenantStore, 'createKey' | 'listKeys' | 'revokeKey'>;

/** What the mutations of `0003_mutations.sql` answer; `key` and `seq` where the outcome is `done`. */
interface Mutated<Outcome extends string> {
  readonly outcome: Outcome;
  readonly key: KeyRow;
  readonly seq: number;
}

/** API keys of any account. */
export function apiKeys(db: Runner, hints: Hints): ApiKeys {
  return {
    async createKey(account, key, limit) {
      const [made] = await db.run(
        (sql) => sql<[Mutated<'done' | 'none' | 'limit'>]>`
          select * from api_key_create(
            ${account}, ${key.id}, ${key.name}, ${sql.json(key.scopes)}, ${digestBytes(key.digest)},
            ${digestBytes(key.clientSecretDigest)}, ${key.prefix}, ${key.last4}, ${key.expiresAt}, ${limit}
          )`,
      );
      if (made.outcome === 'none') return null;
      return made.outcome === 'limit' ? { limit } : toApiKey(made.key);
    },

    async listKeys(account, { limit, after = aboveEveryId }) {
      const rows = await db.run(
        (sql) => sql<{ readonly key: KeyRow }[]>`
          select api_key_json(k) as key from api_key k
          where account_id >= ${account} and (account_id, id) < (${account}, ${after})
          order by account_id desc, id desc limit ${limit + 1}`,
      );
      return pageOf(rows, limit, (row) => toApiKey(row.key));
    },

    async revokeKey(account, key) {
      const [revoked] = await db.run(
        (sql) => sql<[Mutated<'done' | 'none'>]>`select * from api_key_revoke(${account}, ${key})`,
      );
      if (revoked.outcome === 'none') return null;
      hints.nudge();
      return { value: toApiKey(revoked.key), seq: revoked.seq };
    },
  };
}

/** A digest as it is stored. */
export function digestBytes(digest: KeyDigest): Buffer {
  return Buffer.from(digest, 'base64url');
}
