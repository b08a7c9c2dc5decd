import type { ApiKey, ApiKeyStatus, KeyDigest } from '../domain/api-key.ts';
import type { AccountChange, Metadata, ParentAccount, ParentChange, SubAccount } from '../domain/account.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { Limits } from '../domain/limits/limits.ts';
import type { ChangedBy, IdempotencyClaim, Operator, Replay } from './changes.ts';
import type { Seq } from './facts.ts';
import type {
  ChangedKey,
  HeldKey,
  ImportedKeys,
  ImportRejected,
  KeyChange,
  KeyFilter,
  KeyInactive,
  KeyRotated,
  KeyRotation,
  KeyToImport,
  NewApiKey,
} from './api-keys.ts';

/**
 * Result of a change, and the position that every replica must reach before the client gets a 2xx. `seq` is `null` if
 * no replica can hold an outdated fact about the record.
 */
export interface Committed<T> extends Replay {
  readonly value: T;
  readonly seq: Seq | null;
  /** History that `seq` belongs to. */
  readonly incarnation: string;
}

/** Query for one page, newest first. `after` is the id of the last row of the previous page. */
export interface PageQuery {
  readonly limit: number;
  readonly after?: string;
}

/** Query for one page of an account's keys. */
export interface KeyPageQuery extends PageQuery {
  /** Status to filter by. */
  readonly status?: ApiKeyStatus;
}

/** One page of a list. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
}

/** Filter for sub-accounts; absent members match everything. */
export interface SubAccountFilter {
  readonly status?: 'active' | 'deactivated';
  readonly externalId?: string;
  /** Start of the name, ignoring case. */
  readonly nameStart?: string;
  /** Pairs that the metadata must contain. */
  readonly metadata?: Metadata;
  /** Minimum share of the monthly quota that the sub-account has used up, from 0 to 1. */
  readonly near?: number;
}

/** Filter for parents; absent members match everything. */
export interface ParentFilter {
  readonly status?: 'active' | 'suspended';
  readonly externalId?: string;
  readonly nameStart?: string;
  /** Like {@link SubAccountFilter.near}, but for the quota of the parent or of any of its sub-accounts. */
  readonly near?: number;
  /** Only the parent of this sub-account. */
  readonly subAccount?: AccountId;
  /** Name of the plan. */
  readonly plan?: string;
}

/** A parent to create. */
export interface NewParent {
  readonly id: AccountId;
  readonly name: string;
  readonly externalId?: string | null;
  readonly metadata?: Metadata;
  /** Name of the parent's plan; `null` for none. */
  readonly plan?: string | null;
}

/** A sub-account to create. */
export interface NewSubAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly externalId: string | null;
  readonly metadata: Metadata;
  readonly limits?: Partial<Limits>;
}

/** Desired state of the sub-account with a given `external_id`. */
export interface SubAccountToPut {
  /** Id for the sub-account if it is created. */
  readonly id: AccountId;
  readonly name: string;
  /** Pairs to merge into existing metadata; `null` removes a pair. Limits are merged the same way. */
  readonly metadata: Readonly<Record<string, string | null>>;
  readonly limits?: Partial<Limits>;
}

/** The account that already has the `external_id`. */
export interface ExternalIdTaken {
  readonly taken: AccountId;
}

/** Another account has the id that the operator chose. */
export interface IdTaken {
  readonly idTaken: true;
}

/** There is no plan with the name that the operator gave. */
export interface NoSuchPlan {
  readonly noPlan: true;
}

/** The limit that would be exceeded: the parent's own limit, or the configured one if the parent has none. */
export interface LimitReached {
  readonly limit: number;
}

/** Result of a deletion. */
export type Deleted =
  /** `alreadyGone` if the account was deleted earlier; the position then covers that deletion. */
  | (Committed<null> & { readonly alreadyGone: boolean })
  /** The parent is not suspended, or the sub-account is not deactivated; nothing was done. */
  | 'still-active';

/**
 * Accounts and keys. Methods return `null` for a record that does not exist or belongs to another account, and throw
 * `ProblemError` `unavailable` if the store cannot be reached. Times come from the database's clock. Setting limits
 * throws `unavailable` while a registered replica runs a version without limits, and `invalid_request` for a burst
 * without a rate.
 */
export interface TenantStore {
  /**
   * An `externalId` is rejected while a registered replica runs a version that does not send it to upstreams; a
   * `plan` is rejected while one runs a version without plans.
   */
  createParent(
    draft: NewParent,
    claim?: IdempotencyClaim | null,
    caller?: Operator,
  ): Promise<Committed<ParentAccount> | ExternalIdTaken | IdTaken | NoSuchPlan>;
  /** @param tenant the call waits for the store in this parent's queue; absent for operators, who do not queue */
  getParent(id: AccountId, tenant?: AccountId): Promise<ParentAccount | null>;
  listParents(filter: ParentFilter, page: PageQuery): Promise<Page<ParentAccount>>;
  /** Returns `'too-many-pairs'` if the merged metadata would hold too many pairs. */
  updateParent(
    id: AccountId,
    change: ParentChange,
    caller?: Operator,
  ): Promise<Committed<ParentAccount> | ExternalIdTaken | NoSuchPlan | 'too-many-pairs' | null>;
  setParentStatus(
    id: AccountId,
    status: 'active' | 'suspended',
    claim?: IdempotencyClaim | null,
    caller?: Operator,
  ): Promise<Committed<ParentAccount> | null>;
  /**
   * Deletes a suspended parent with its sub-accounts and all their keys, in one change that does not depend on their
   * number. From then on, methods treat them as records that do not exist; their ids are never given again. `ErasureStore`
   * erases their names later.
   *
   * @throws ProblemError `unavailable` while a registered replica runs a version that does not know deletion
   */
  deleteParent(id: AccountId, caller?: Operator): Promise<Deleted | null>;

  /** @param limit maximum number of sub-accounts, including deactivated ones, if the parent has no limit of its own */
  createSubAccount(
    parent: AccountId,
    draft: NewSubAccount,
    limit: number,
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
  ): Promise<Committed<SubAccount> | ExternalIdTaken | IdTaken | LimitReached>;
  getSubAccount(parent: AccountId, id: AccountId): Promise<SubAccount | null>;
  listSubAccounts(parent: AccountId, filter: SubAccountFilter, page: PageQuery): Promise<Page<SubAccount>>;
  /** Returns `'too-many-pairs'` if the merged metadata would hold too many pairs. */
  updateSubAccount(
    parent: AccountId,
    id: AccountId,
    change: AccountChange,
    caller?: ChangedBy,
  ): Promise<Committed<SubAccount> | ExternalIdTaken | 'too-many-pairs' | null>;
  /**
   * Creates the sub-account with this `external_id`, or updates it without changing its status. Nothing is written if
   * the sub-account already has the desired state. The returned position always covers the creation.
   *
   * @returns `null` if there is no such parent
   */
  putSubAccount(
    parent: AccountId,
    externalId: string,
    draft: SubAccountToPut,
    limit: number,
    caller?: ChangedBy,
  ): Promise<
    (Committed<SubAccount> & { readonly created: boolean }) | LimitReached | 'too-many-pairs' | null
  >;
  /** Idempotent: if the account already has this status, the returned position is the newest in the log. */
  setSubAccountStatus(
    parent: AccountId,
    id: AccountId,
    status: 'active' | 'deactivated',
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
  ): Promise<Committed<SubAccount> | null>;
  /** Deletes a deactivated sub-account with its keys, like {@link deleteParent}. */
  deleteSubAccount(parent: AccountId, id: AccountId, caller?: ChangedBy): Promise<Deleted | null>;

  /**
   * Mints a key.
   *
   * @param limit maximum number of active keys for the account if its parent has no limit of its own
   * @param caller author of the change; calls of parents take turns at the store, but calls of operators do not
   * @param parent parent that the account must have; `null` if the account must itself be a parent; absent if any
   * account will do. In the other methods that change keys, `parent` has the same meaning
   * @throws ProblemError `not_found` if there is no account with this id and the required parent
   */
  createKey(
    account: AccountId,
    key: NewApiKey,
    limit: number,
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
    parent?: AccountId | null,
  ): Promise<(ApiKey & Replay) | LimitReached | null>;
  /**
   * Imports keys for a parent and its sub-accounts, all or none. Returns `null` if there is no such parent. Replicas
   * may have recorded a key as nonexistent before the import, so a 2xx waits until every replica has reached the
   * import's position.
   *
   * @param keys keys with distinct digests
   * @param limit maximum number of active keys for an account if the parent has no limit of its own
   * @throws ProblemError `unavailable` while a registered replica runs a version that could not enforce the import
   */
  importKeys(
    parent: AccountId,
    keys: readonly KeyToImport[],
    limit: number,
    claim?: IdempotencyClaim | null,
    caller?: Operator,
  ): Promise<Committed<ImportedKeys> | ImportRejected | null>;
  /** @param tenant the call waits for the store in this parent's queue; absent for operators, who do not queue */
  listKeys(account: AccountId, page: KeyPageQuery, tenant?: AccountId): Promise<Page<ApiKey>>;
  /** @param tenant as for {@link listKeys} */
  getKey(account: AccountId, key: KeyId, tenant?: AccountId): Promise<ApiKey | null>;
  /** Finds keys of all accounts, for operators. */
  findKeys(filter: KeyFilter, page: PageQuery): Promise<Page<HeldKey>>;
  /**
   * Returns the digest by which decisions look up the key. The key may belong to any account. No response contains the
   * digest.
   */
  keyDigest(key: KeyId): Promise<KeyDigest | null>;
  /**
   * Changes a key. Returns `'inactive'` if the change would give a new `expiresAt` to a key that is revoked or has
   * expired; its name and limits can always be changed.
   *
   * @param account the key's account; `null` for operators, who name only the key and get its `holding` in the result
   */
  updateKey(
    account: AccountId | null,
    key: KeyId,
    change: KeyChange,
    caller?: ChangedBy,
    parent?: AccountId | null,
  ): Promise<Committed<ChangedKey> | KeyInactive | null>;
  /**
   * Mints a key to replace another key of the account. The replaced key is revoked or expires soon. The account's key
   * limit does not apply, but at most two keys of a lineage are active afterwards; see {@link KeyRotated}.
   *
   * @returns the new key
   */
  rotateKey(
    account: AccountId | null,
    key: KeyId,
    rotation: KeyRotation,
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
    parent?: AccountId | null,
  ): Promise<Committed<ChangedKey> | KeyInactive | KeyRotated | null>;
  /** Idempotent, like {@link setSubAccountStatus}. */
  revokeKey(
    account: AccountId | null,
    key: KeyId,
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
    parent?: AccountId | null,
  ): Promise<Committed<ChangedKey> | null>;
  /**
   * Revokes all keys of an account, even expired ones, at one position. Idempotent, like {@link setSubAccountStatus}.
   *
   * @returns number of keys that were not already revoked
   */
  revokeAllKeys(
    account: AccountId,
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
    parent?: AccountId | null,
  ): Promise<Committed<number> | null>;
}
