import type { ApiKey, ApiKeyStatus, KeyDigest, KeyHints, KeyLabels } from '../domain/api-key.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { Limits } from '../domain/limits/limits.ts';

/** An API key to create; the store sees only digests. */
export interface NewApiKey extends Pick<KeyLabels, 'name'>, Partial<Omit<KeyLabels, 'name'>> {
  readonly id: KeyId;
  readonly scopes: readonly string[];
  readonly digest: KeyDigest;
  readonly clientSecretDigest: KeyDigest;
  readonly prefix: string;
  readonly last4: string;
  readonly expiresAt: Date | null;
  readonly limits?: KeyLimits;
}

/** Limits of a key, per second and minute; a key has no daily or monthly limit. */
export type KeyLimits = Partial<Pick<Limits, 'requestsPerSecond' | 'burst' | 'requestsPerMinute'>>;

/** An API key that was made elsewhere. It has no client secret. */
export interface KeyToImport
  extends Pick<NewApiKey, 'id' | 'name' | 'scopes' | 'digest' | 'expiresAt'>, KeyHints {
  /** Parent of the import, or one of its sub-accounts. */
  readonly owner: AccountId;
  /** Result of `importedUnder` in `src/domain/api-key.ts`; absent if it is not known. */
  readonly importedUnder?: string;
}

/** Result of an import. */
export interface ImportedKeys {
  /** Number of new keys; the others belonged to their owners already and are unchanged. */
  readonly imported: number;
  /** All keys of the import, in the given order. */
  readonly keys: readonly ApiKey[];
}

/** Reason why nothing was imported. `positions` holds the indexes, from 0, of the keys that caused the rejection. */
export interface ImportRejected {
  /**
   * - `no-owner`: the owner is neither the parent nor one of its sub-accounts
   * - `taken`: another account has the key
   * - `limit`: the account would exceed its limit on keys
   */
  readonly rejected: 'no-owner' | 'taken' | 'limit';
  readonly positions: readonly number[];
  /** Maximum number of keys of an account; only for `limit`. */
  readonly limit?: number;
}

/** A change of a key; absent members stay as they are. */
export interface KeyChange extends Partial<KeyLabels> {
  /** Time at which the key expires; `null` if never. */
  readonly expiresAt?: Date | null;
  readonly limits?: KeyLimits;
}

/**
 * A key that replaces another one and takes over its labels, scopes and limits. Requests with both keys count against
 * the same limits.
 */
export interface KeyRotation extends Omit<NewApiKey, keyof KeyLabels | 'scopes' | 'limits'> {
  /** Seconds until the replaced key expires, unless it expires earlier; 0 revokes it at once. */
  readonly overlapS: number;
}

/** The key is revoked or has expired, so the change came too late. */
export type KeyInactive = 'inactive';

/** Two keys of the lineage are active already: the key, and the key that it replaced or that replaced it. */
export interface KeyRotated {
  /** The newest key of the lineage. */
  readonly newest: KeyId;
}

/** Filter for keys of all accounts; absent members do not filter. */
export interface KeyFilter {
  readonly id?: KeyId;
  readonly digest?: KeyDigest;
  /** Text that the key begins with. It may be shorter or longer than the prefix that is shown. */
  readonly prefix?: string;
  readonly last4?: string;
  readonly account?: AccountId;
  readonly status?: ApiKeyStatus;
}

/** Account of a key, as operators see it with the key. */
export interface KeyHolder {
  readonly id: AccountId;
  readonly name: string;
  readonly status: 'active' | 'deactivated' | 'suspended';
}

/** Account of a key, and its parent. */
export interface KeyHolding {
  readonly account: KeyHolder & { readonly externalId: string | null };
  /** Parent of the account; `null` if the account is a parent. */
  readonly parent: KeyHolder | null;
}

/** A key with its account. */
export interface HeldKey extends KeyHolding {
  readonly key: ApiKey;
}

/** A key after a change, with its account if the caller of the change did not name the account. */
export type ChangedKey = ApiKey & { readonly holding?: KeyHolding };
