import type { KeyDigest } from '../../../domain/api-key.ts';
import type { ImportRejected, KeyToImport, NewApiKey } from '../../../ports/api-keys.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import { committed, digestBytes, limitReached, replayOf, requiredOwner, type Changes } from './changes.ts';
import { toApiKey, type KeyRow } from './rows.ts';

/** Columns that `api_key_import` returns in addition to those of every change. */
interface ImportRow {
  readonly imported: number;
  readonly keys: readonly KeyRow[];
  readonly faults: readonly number[];
}

/** Adds API keys to an account: newly minted ones, and ones minted by another system. */
export function newKeys(changes: Changes): Pick<TenantStore, 'createKey' | 'importKeys'> {
  return {
    async createKey(account, key, limit, claim = null, caller, parent) {
      const made = await changes.run<'none' | 'limit'>(
        claim,
        (sql, request) => sql`api_key_create(${request}, ${account}, ${sql.json(mintedRow(key))}, ${limit})`,
        caller,
        { limits: key.limits, owner: requiredOwner(account, parent) },
      );
      if (made.outcome === 'none') return null;
      return made.outcome === 'limit' ? limitReached(made.key) : { ...toApiKey(made.key), ...replayOf(made) };
    },

    async importKeys(parent, keys, limit, claim = null, caller) {
      const made = await changes.run<'none' | ImportRejected['rejected'], ImportRow>(
        claim,
        (sql, request) =>
          sql`api_key_import(${request}, ${parent}, ${sql.json(keys.map(importedRow))}, ${limit})`,
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
  };
}

/** Returns a key in the form that `api_key_create` takes. */
function mintedRow({ clientSecretDigest, limits: _, ...key }: NewApiKey) {
  return { ...rowOf(key), client_secret_digest: hexOf(clientSecretDigest) };
}

/** Returns a key in the form that `api_key_import` takes. */
function importedRow({ importedUnder, ...key }: KeyToImport) {
  return { ...rowOf(key), imported_under: importedUnder };
}

/** Returns the members that minted and imported keys have in common, with database column names. */
function rowOf<Key extends Pick<KeyToImport, 'scopes' | 'digest' | 'expiresAt'>>({
  digest,
  expiresAt,
  ...key
}: Key) {
  return {
    ...key,
    scopes: [...key.scopes],
    digest: hexOf(digest),
    expires_at: expiresAt?.toISOString() ?? null,
  };
}

/** Returns a digest in the form that PostgreSQL reads from JSON. */
function hexOf(digest: KeyDigest): string {
  return `\\x${digestBytes(digest).toString('hex')}`;
}
