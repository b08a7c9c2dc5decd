import type { AccountId } from './ids.ts';
import type { Limits } from './limits/limits.ts';

/** Maximum length of the name of an account or a key, in characters. */
export const nameMaxLength = 256;

/** Pairs of strings that clients attach to an account. The gateway does not interpret them. */
export type Metadata = Readonly<Record<string, string>>;
export const metadataMaxPairs = 16;
export const metadataKeyMaxLength = 40;
export const metadataValueMaxLength = 500;

/** A parent account, created by the operator. While it is suspended, its keys and those of its sub-accounts get 403. */
export interface ParentAccount {
  readonly id: AccountId;
  readonly name: string;
  /** The operator's own name for the parent, unique among parents. */
  readonly externalId: string | null;
  readonly status: 'active' | 'suspended';
  readonly metadata: Metadata;
  readonly activeSubAccounts: number;
  /** Maximum number of sub-accounts, deactivated ones included; `null` means the configured limit. */
  readonly maxSubAccounts: number | null;
  /**
   * Maximum number of usable keys that the parent, and each of its sub-accounts, may have; `null` means the configured
   * limit.
   */
  readonly maxApiKeys: number | null;
  /** Limits on all requests of the parent and its sub-accounts together. */
  readonly limits: Limits;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A sub-account of a parent (spec sections 2 and 3). */
export interface SubAccount {
  readonly id: AccountId;
  readonly parentId: AccountId;
  readonly name: string;
  readonly externalId: string | null;
  readonly status: 'active' | 'deactivated';
  readonly metadata: Metadata;
  /** Limits on requests for this sub-account. */
  readonly limits: Limits;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deactivatedAt: Date | null;
}

/** A PATCH of an account: absent members stay as they are, `null` clears a member, metadata and limits are merged. */
export interface AccountChange {
  readonly name?: string;
  readonly externalId?: string | null;
  readonly metadata?: Readonly<Record<string, string | null>>;
  readonly limits?: Partial<Limits>;
}

/** A PATCH of a parent account; `null` restores the configured limit. */
export interface ParentChange extends AccountChange {
  readonly maxSubAccounts?: number | null;
  readonly maxApiKeys?: number | null;
}

/**
 * Merges a change into metadata; `null` removes a pair. Every store must merge in the same way. Returns `undefined` if
 * the result would have more than {@link metadataMaxPairs} pairs.
 */
export function mergeMetadata(
  old: Metadata,
  change: Readonly<Record<string, string | null>>,
): Metadata | undefined {
  const merged = new Map(Object.entries(old));
  for (const [key, value] of Object.entries(change)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return merged.size > metadataMaxPairs ? undefined : Object.fromEntries(merged);
}
