import type { ChangedKey, KeyRotated } from '../../../ports/api-keys.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import { committed, digestBytes, requiredOwner, type Changes } from './changes.ts';
import { accountOfKey, andHolding, changedKey } from './held-keys.ts';
import { keyPatchOf } from './rows.ts';

/** Changes or rotates one API key. */
export function keyChanges(changes: Changes): Pick<TenantStore, 'updateKey' | 'rotateKey'> {
  return {
    async updateKey(account, key, change, caller, parent) {
      const made = await changes.run<'none' | 'inactive', Pick<ChangedKey, 'holding'>>(
        null,
        (sql, request) => sql`
          api_key_update(
            ${request}, ${accountOfKey(sql, account, key)}, ${key}, ${sql.json(keyPatchOf(change))}
          ) ${andHolding(sql, account, key)}`,
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
          api_key_rotate(
            ${request}, ${accountOfKey(sql, account, key)}, ${key}, ${rotation.overlapS}, ${rotation.id},
            ${digestBytes(rotation.digest)}, ${digestBytes(rotation.clientSecretDigest)},
            ${rotation.prefix}, ${rotation.last4}, ${rotation.expiresAt}
          ) ${andHolding(sql, account, key)}`,
        caller,
        { owner: requiredOwner(account, parent), takesAway: rotation.overlapS === 0 },
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
  };
}

/** Revokes one API key, or all keys of an account. */
export function keyRevocations(changes: Changes): Pick<TenantStore, 'revokeKey' | 'revokeAllKeys'> {
  return {
    async revokeKey(account, key, claim = null, caller, parent) {
      const revoked = await changes.run<'none', Pick<ChangedKey, 'holding'>>(
        claim,
        (sql, request) =>
          sql`api_key_revoke(${request}, ${accountOfKey(sql, account, key)}, ${key}) ${andHolding(sql, account, key)}`,
        caller,
        { owner: requiredOwner(account, parent), takesAway: true },
      );
      return revoked.outcome === 'none' ? null : committed(revoked, changedKey(revoked));
    },

    async revokeAllKeys(account, claim = null, caller, parent) {
      const made = await changes.run<'none', { readonly revoked: number }>(
        claim,
        (sql, request) => sql`api_key_revoke_all(${request}, ${account})`,
        caller,
        { owner: requiredOwner(account, parent), takesAway: true },
      );
      return made.outcome === 'none' ? null : committed(made, made.revoked);
    },
  };
}
