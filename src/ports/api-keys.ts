import type { ApiKey, ApiKeyStatus, KeyDigest, KeyHints } from '../domain/api-key.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { Limits } from '../domain/limits/limits.ts';

/** An API key to be created; the store sees digests only. */
export interface NewApiKey {
  readonly id: KeyId;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly digest: KeyDigest;
  readonly clientSecretDigest: KeyDigest;
  readonly prefix: string;
  readonly last4: string;
  readonly expiresAt: Date | null;
  readonly limits?: KeyLimits;
}

/** Limits of a key; it has none for months. */
export type KeyLimits = Partial<Pick<Limits, 'requestsPerSecond' | 'burst'>>;

/** An API key that was made elsewhere. It has no client secret. */
export interface KeyToImport
  extends Omit<NewApiKey, 'clientSecretDigest' | 'prefix' | 'last4' | 'limits'>, KeyHints {
  /** The parent that the import is for, or a sub-account of it. */
  readonly owner: AccountId;
}

/** What an import came to. */
export interface ImportedKeys {
  /** How many are new; the others belonged to their owners already, and are left as they are. */
  readonly imported: number;
  /** All of them, in the order given. */
  readonly keys: readonly ApiKey[];
}

/** Why nothing was imported, and which keys stood in the way: positions in the list, from 0. */
export interface ImportRejected {
  /**
   * - `no-owner`: their owners are neither the parent nor sub-accounts of it
   * - `taken`: other accounts have these keys
   * - `limit`: their accounts would have more keys than they may
   */
  readonly rejected: 'no-owner' | 'taken' | 'limit';
  readonly positions: readonly number[];
  /** Keys that each account may have, where it is that. */
  readonly limit?: number;
}

/** What is to change of a key; a member that is absent stays. */
export interface KeyChange {
  readonly name?: string;
  /** `null`: never. */
  readonly expiresAt?: Date | null;
  readonly limits?: KeyLimits;
}

/** A key to be made in place of another one, whose name, scopes and limits it gets; the two count as one for these. */
export interface KeyRotation extends Omit<NewApiKey, 'name' | 'scopes' | 'limits'> {
  /** Seconds until the other one expires, where it does not before; 0 revokes it. */
  readonly overlapS: number;
}

/** The key is revoked or has expired, so that it is too late for what was asked. */
export type KeyInactive = 'inactive';

/** Which keys of all accounts to find; a member that is absent does not filter. */
export interface KeyFilter {
  readonly id?: KeyId;
  readonly digest?: KeyDigest;
  readonly prefix?: string;
  readonly last4?: string;
  readonly account?: AccountId;
  readonly status?: ApiKeyStatus;
}

/** An account as far as an operator who looks at one of its keys wants to know it. */
export interface KeyHolder {
  readonly id: AccountId;
  readonly name: string;
  readonly status: 'active' | 'deactivated' | 'suspended';
}

/** A key with whose it is. */
export interface HeldKey {
  readonly key: ApiKey;
  readonly account: KeyHolder & { readonly externalId: string | null };
  /** Of a sub-account; `null` for a key of a parent. */
  readonly parent: KeyHolder | null;
}
