import { usualKeyPrefix, type KeyDigest } from '../../../domain/api-key.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import type {
  ChangedKey,
  ImportRejected,
  KeyRotated,
  KeyToImport,
  NewApiKey,
} from '../../../ports/api-keys.ts';
import { aboveEveryId, pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { committed, digestBytes, limitReached, replayOf, requiredOwner, type Changes } from './changes.ts';
import { accountOfKey, andHolding, changedKey, statusCondition } from './held-keys.ts';
import { limitsPatchOf, toApiKey, type KeyRow } from './rows.ts';

type ApiKeys = Pick<
  TenantStore,
  | 'createKey'
  | 'importKeys'
  | 'listKeys'
  | 'getKey'
  | 'keyDigest'
  | 'updateKey'
  | 'rotateKey'
  | 'revokeKey'
  | 'revokeAllKeys'
>;

/** Members of the result of `api_key_import` besides those of every change. */
interface ImportRow {
  readonly imported: number;
  readonly keys: readonly KeyRow[];
  readonly faults: readonly number[];
}

/** A key in the form for `api_key_import`. */
function importedRow({ digest, expiresAt, importedUnder, ...key }: KeyToImport) {
  return {
    ...key,
    scopes: [...key.scopes],
    digest: `\\x${digestBytes(digest).toString('hex')}`,
    expires_at: expiresAt?.toISOString() ?? null,
    imported_under: importedUnder,
  };
}

/** Level of replicas that can tell keys of any format from mistyped ones. */
const importsKeys = 2;

/** Replicas of 0.1.0 take a key with another prefix for a mistyped one. */
function isReadBy010({ prefix }: Pick<NewApiKey, 'prefix'>): boolean {
  return prefix.startsWith(`${usualKeyPrefix}_`);
}

/** API keys of any account. */
export function apiKeys(db: Runner, changes: Changes): ApiKeys {
  return {
    async createKey(account, key, limit, claim = null, caller, parent) {
      const made = await changes.run<'none' | 'limit'>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation
            ${isReadBy010(key) ? sql`` : sql`, fleet_require(${importsKeys})`}
          from api_key_create(
            ${request}, ${account}, ${key.id}, ${key.name}, ${sql.json(key.scopes)}, ${digestBytes(key.digest)},
            ${digestBytes(key.clientSecretDigest)}, ${key.prefix}, ${key.last4}, ${key.expiresAt}, ${limit}
          ) c`,
        caller,
        { limits: key.limits, owner: requiredOwner(account, parent) },
      );
      if (made.outcome === 'none') return null;
      return made.outcome === 'limit' ? limitReached(made.key) : { ...toApiKey(made.key), ...replayOf(made) };
    },

    async importKeys(parent, keys, limit, claim = null, caller) {
      const made = await changes.run<'none' | ImportRejected['rejected'], ImportRow>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation
          from api_key_import(${request}, ${parent}, ${sql.json(keys.map(importedRow))}, ${limit}) c`,
        caller,
      );
      switch (made.outcome) {
        case 'none':
          return null;
        case 'no-owner':
        case 'taken':
          return { rejected: made.outcome, positions: made.faults };
        case 'limit':
          return { rejected: made.outcome, positions: made.faults, ...limitReached(made.keys) };
        case 'done':
        case 'again':
          return committed(made, { imported: made.imported, keys: made.keys.map(toApiKey) });
      }
    },

    async listKeys(account, { limit, after = aboveEveryId, status }, tenant) {
      const rows = await db.run(
        (sql) => sql<{ readonly key: KeyRow }[]>`
          select api_key_json(k) as key from api_key k
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
          select api_key_json(k) as key from api_key k where id = ${id} and account_id = ${account}`,
        tenant,
      );
      return row === undefined ? null : toApiKey(row.key);
    },

    // Operators have the id of a key; decisions know it by its digest.
    async keyDigest(id) {
      const [row] = await db.run(
        (sql) => sql<{ readonly digest: Buffer }[]>`select digest from api_key where id = ${id}`,
      );
      return row === undefined ? null : (row.digest.toString('base64url') as KeyDigest);
    },

    async updateKey(account, key, { name, expiresAt, limits }, caller, parent) {
      const change = {
        ...(name !== undefined && { name }),
        ...(expiresAt !== undefined && { expires_at: expiresAt }),
        ...(limits !== undefined && { limits: limitsPatchOf(limits) }),
      };
      const made = await changes.run<'none' | 'inactive', Pick<ChangedKey, 'holding'>>(
        null,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation${andHolding(sql, account, key)}
          from api_key_update(${request}, ${accountOfKey(sql, account, key)}, ${key}, ${sql.json(change)}) c`,
        caller,
        { owner: requiredOwner(account, parent) },
      );
      if (made.outcome === 'none') return null;
      return made.outcome === 'inactive' ? made.outcome : committed(made, changedKey(made));
    },

    async rotateKey(account, key, rotation, claim = null, caller, parent) {
      const made = await changes.run<'none' | 'inactive' | 'rotated', Pick<ChangedKey, 'holding'>>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation${andHolding(sql, account, key)}
            ${isReadBy010(rotation) ? sql`` : sql`, fleet_require(${importsKeys})`}
          from api_key_rotate(
            ${request}, ${accountOfKey(sql, account, key)}, ${key}, ${rotation.overlapS}, ${rotation.id}, ${digestBytes(rotation.digest)},
            ${digestBytes(rotation.clientSecretDigest)}, ${rotation.prefix}, ${rotation.last4}, ${rotation.expiresAt}
          ) c`,
        caller,
        { owner: requiredOwner(account, parent) },
      );
      switch (made.outcome) {
        case 'none':
          return null;
        case 'inactive':
          return made.outcome;
        case 'rotated':
          return { newest: (made.key as unknown as KeyRotated).newest };
        case 'done':
        case 'again':
          return committed(made, changedKey(made));
      }
    },

    async revokeKey(account, key, claim = null, caller, parent) {
      const revoked = await changes.run<'none', Pick<ChangedKey, 'holding'>>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation${andHolding(sql, account, key)} from api_key_revoke(${request}, ${accountOfKey(sql, account, key)}, ${key}) c`,
        caller,
        { owner: requiredOwner(account, parent) },
      );
      return revoked.outcome === 'none' ? null : committed(revoked, changedKey(revoked));
    },

    async revokeAllKeys(account, claim = null, caller, parent) {
      const made = await changes.run<'none', { readonly revoked: number }>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation from api_key_revoke_all(${request}, ${account}) c`,
        caller,
        { owner: requiredOwner(account, parent) },
      );
      return made.outcome === 'none' ? null : committed(made, made.revoked);
    },
  };
}
