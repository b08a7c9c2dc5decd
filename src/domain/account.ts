import type { AccountId } from './ids.ts';
import type { Limits } from './limits/limits.ts';

/** The longest name of an account or a key, in characters. */
export const nameMaxLength = 256;

/** Free string pairs on an account. */
export type Metadata = Readonly<Record<string, string>>;
export const metadataMaxPairs = 16;
export const metadataKeyMaxLength = 40;
export const metadataValueMaxLength = 500;

/** A parent account, made by the operator. While it is suspended, its keys and those of its sub-accounts get 403. */
export interface ParentAccount {
  readonly id: AccountId;
  readonly name: string;
  /** The operator's own name for it, unique over all parents. */
  readonly externalId: string | null;
  readonly status: 'active' | 'suspended';
  readonly metadata: Metadata;
  readonly activeSubAccounts: number;
  /** Sub-accounts it may have, deactivated ones included; `null`: as many as the configuration says. */
  readonly maxSubAccounts: number | null;
  /** Keys that can be used it may have, and each of its sub-accounts; `null` likewise. */
  readonly maxApiKeys: number | null;
  /** Of what it and its sub-accounts send together. */
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
  /** Of what is sent for it. */
  readonly limits: Limits;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deactivatedAt: Date | null;
}

/** A PATCH of an account, parent or sub-account: absent members stay, `null` clears, metadata and limits are merged. */
export interface AccountChange {
  readonly name?: string;
  readonly externalId?: string | null;
  readonly metadata?: Readonly<Record<string, string | null>>;
  readonly limits?: Partial<Limits>;
}

/** A PATCH of a parent; `null` goes back to what the configuration says. */
export interface ParentChange extends AccountChange {
  readonly maxSubAccounts?: number | null;
  readonly maxApiKeys?: number | null;
}

/** Metadata after a merge, the rule every store is held to; `null` removes a pair. `undefined` where the result would hold too many pairs. */
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
