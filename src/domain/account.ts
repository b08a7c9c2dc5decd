import type { AccountId } from './ids.ts';
import type { Limits } from './limits/limits.ts';
import type { Own, OwnLimits } from './limits/plan.ts';

/** Maximum length of an account's or key's name, in characters. */
export const nameMaxLength = 256;

/** Key-value pairs of strings that clients attach to an account. The gateway does not interpret them. */
export type Metadata = Readonly<Record<string, string>>;
export const metadataMaxPairs = 16;
export const metadataKeyMaxLength = 40;
export const metadataValueMaxLength = 500;

/**
 * A parent account, created by the operator. While it is suspended, requests with its keys or its sub-accounts' keys
 * get 403.
 */
export interface ParentAccount {
  readonly id: AccountId;
  readonly name: string;
  /** The operator's own name for the parent, unique among parents. */
  readonly externalId: string | null;
  readonly status: 'active' | 'suspended';
  readonly metadata: Metadata;
  readonly activeSubAccounts: number;
  /** Name of the parent's plan; `null` if it has none. */
  readonly plan: string | null;
  /**
   * Maximum number of sub-accounts, including deactivated ones; `null` means the plan's maximum or, without one, the
   * configured limit.
   */
  readonly maxSubAccounts: Own;
  /** Maximum number of active keys for the parent and for each of its sub-accounts; `null` as for `maxSubAccounts`. */
  readonly maxApiKeys: Own;
  /** The parent's own limits on requests of the parent and its sub-accounts combined. */
  readonly limits: OwnLimits;
  /** The limits in force: the parent's own, and otherwise those of its plan. */
  readonly effectiveLimits: Limits;
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

/** A PATCH to an account: absent members stay unchanged, `null` clears a member, and metadata and limits are merged. */
export interface AccountChange {
  readonly name?: string;
  readonly externalId?: string | null;
  readonly metadata?: Readonly<Record<string, string | null>>;
  readonly limits?: Partial<Limits>;
}

/** A PATCH to a parent account. A limit or maximum that is `null` is the plan's again. */
export interface ParentChange extends Omit<AccountChange, 'limits'> {
  readonly plan?: string | null;
  readonly maxSubAccounts?: Own;
  readonly maxApiKeys?: Own;
  readonly limits?: Partial<OwnLimits>;
}

/**
 * Merges a change into metadata; `null` removes a pair. Every store must merge the same way. Returns `undefined` if the
 * result would have more than {@link metadataMaxPairs} pairs.
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
