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

/** A key's limits, per second and per minute; keys have no daily or monthly limits. */
export type KeyLimits = Partial<Pick<Limits, 'requestsPerSecond' | 'burst' | 'requestsPerMinute'>>;

/** An API key that was made elsewhere. It has no client secret. */
export interface KeyToImport
  extends Pick<NewApiKey, 'id' | 'name' | 'scopes' | 'digest' | 'expiresAt'>, KeyHints {
  /** The parent that the import is for, or one of its sub-accounts. */
  readonly owner: AccountId;
  /** Result of `importedUnder` in `src/domain/api-key.ts`; absent if unknown. */
  readonly importedUnder?: string;
}

/** Result of an import. */
export interface ImportedKeys {
  /** Number of new keys; the rest already belonged to their owners and are unchanged. */
  readonly imported: number;
  /** All keys in the import, in the order given. */
  readonly keys: readonly ApiKey[];
}

/** Why nothing was imported. `positions` holds the zero-based indexes of the keys that caused the rejection. */
export interface ImportRejected {
  /**
   * - `no-owner`: the owner is neither the parent nor one of its sub-accounts
   * - `taken`: another account has the key
   * - `limit`: the account would exceed its key limit
   */
  readonly rejected: 'no-owner' | 'taken' | 'limit';
  readonly positions: readonly number[];
  /** Maximum number of keys per account; set only for `limit`. */
  readonly limit?: number;
}

/** A change to a key; absent members are left as they are. */
export interface KeyChange extends Partial<KeyLabels> {
  /** When the key expires; `null` if never. */
  readonly expiresAt?: Date | null;
  readonly limits?: KeyLimits;
}

/**
 * A key that replaces another key and takes over the other key's labels, scopes and limits. Requests with either key
 * count against the same limits.
 */
export interface KeyRotation extends Omit<NewApiKey, keyof KeyLabels | 'scopes' | 'limits'> {
  /** Seconds until the replaced key expires, unless it expires sooner anyway; 0 revokes it at once. */
  readonly overlapS: number;
}

/** The key is revoked or has expired, so the change came too late. */
export type KeyInactive = 'inactive';

/**
 * Why a rotation was refused: it would leave more than two active keys in the key's lineage. A lineage is a key and all
 * keys rotated from it, directly or indirectly.
 */
export interface KeyRotated {
  /** The newest active key of the lineage. */
  readonly newest: KeyId;
}

/** Filter for keys across all accounts; absent members match everything. */
export interface KeyFilter {
  readonly id?: KeyId;
  readonly digest?: KeyDigest;
  /** Start of the key. It may be shorter or longer than the prefix that responses show. */
  readonly prefix?: string;
  readonly last4?: string;
  readonly account?: AccountId;
  readonly status?: ApiKeyStatus;
}

/** A key's account, as shown to operators along with the key. */
export interface KeyHolder {
  readonly id: AccountId;
  readonly name: string;
  readonly status: 'active' | 'deactivated' | 'suspended';
}

/** A key's account, and the parent of that account. */
export interface KeyHolding {
  readonly account: KeyHolder & { readonly externalId: string | null };
  /** Parent of the account; `null` if the account itself is a parent. */
  readonly parent: KeyHolder | null;
}

/** A key with its account. */
export interface HeldKey extends KeyHolding {
  readonly key: ApiKey;
}

/** A key after a change, along with its account if the caller did not name the account. */
export type ChangedKey = ApiKey & { readonly holding?: KeyHolding };
