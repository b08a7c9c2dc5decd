import type { ApiKey, ApiKeyStatus, KeyDigest } from '../domain/api-key.ts';
import type { AccountChange, Metadata, ParentAccount, ParentChange, SubAccount } from '../domain/account.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { Limits } from '../domain/limits/limits.ts';
import type { ChangedBy, IdempotencyClaim, Operator, Replay } from './changes.ts';
import type { Seq } from './facts.ts';
import type {
  HeldKey,
  ImportedKeys,
  ImportRejected,
  KeyChange,
  KeyFilter,
  KeyInactive,
  KeyRotation,
  KeyToImport,
  NewApiKey,
} from './api-keys.ts';

/**
 * What a mutation made, and the position that every replica must have reached before the client may get a 2xx.
 * `seq: null` where no replica can hold an old fact about it.
 */
export interface Committed<T> extends Replay {
  readonly value: T;
  readonly seq: Seq | null;
  /** The history that `seq` belongs to. */
  readonly incarnation: string;
}

/** Asks for one page, newest first. `after` is the id of the last row of the page before. */
export interface PageQuery {
  readonly limit: number;
  readonly after?: string;
}

/** Asks for one page of accounts, by (`created_at`, id). */
export interface AccountPageQuery extends PageQuery {
  /** Goes by id alone, as lists of 0.1.0 did: for a client whose cursor is from there. */
  readonly byId?: true;
}

/** Asks for one page of the keys of an account. */
export interface KeyPageQuery extends PageQuery {
  /** Only those with this status. */
  readonly status?: ApiKeyStatus;
}

/** One page of a list. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
}

/** Which sub-accounts to list; a member that is absent does not filter. */
export interface SubAccountFilter {
  readonly status?: 'active' | 'deactivated';
  readonly externalId?: string;
  /** How the name starts; case does not count. */
  readonly nameStart?: string;
  /** Pairs it has, among others. */
  readonly metadata?: Metadata;
}

/** Which parents to list, likewise. */
export interface ParentFilter {
  readonly status?: 'active' | 'suspended';
  readonly externalId?: string;
  readonly nameStart?: string;
}

/** A parent to be created. */
export interface NewParent {
  readonly id: AccountId;
  readonly name: string;
  readonly externalId?: string | null;
  readonly metadata?: Metadata;
}

/** A sub-account to be created. */
export interface NewSubAccount {
  readonly id: AccountId;
  /** The operator has chosen the id, so that another account may have it. */
  readonly idGiven?: true;
  readonly name: string;
  readonly externalId: string | null;
  readonly metadata: Metadata;
  readonly limits?: Partial<Limits>;
}

/** What the sub-account with an `external_id` is to be. */
export interface SubAccountToPut {
  /** Its id, if it is to be created. */
  readonly id: AccountId;
  readonly name: string;
  /** Merged into what it has, as limits are; `null` removes a pair. */
  readonly metadata: Readonly<Record<string, string | null>>;
  readonly limits?: Partial<Limits>;
}

/** The `external_id` belongs to another sub-account of the same parent, or to another parent. */
export interface ExternalIdTaken {
  readonly taken: AccountId;
}

/** The id that the operator gave belongs to another account. */
export interface IdTaken {
  readonly idTaken: true;
}

/** A limit of the configuration would be passed, or the one that the parent has in its place: this one. */
export interface LimitReached {
  readonly limit: number;
}

/**
 * Accounts and keys. Methods return `null` for what does not exist or belongs to another account, and throw
 * `ProblemError` `unavailable` where the store cannot be reached. Times are the database's.
 * Limits: `unavailable` while a replica is registered whose version keeps none, `invalid_request` for a burst without a rate.
 */
export interface TenantStore {
  /** An `externalId` is rejected while a replica is registered that does not send it to upstreams. */
  createParent(
    draft: NewParent,
    claim?: IdempotencyClaim | null,
    caller?: Operator,
  ): Promise<Committed<ParentAccount> | ExternalIdTaken | IdTaken>;
  /** @param tenant the parent that asks; absent where an operator does */
  getParent(id: AccountId, tenant?: AccountId): Promise<ParentAccount | null>;
  listParents(filter: ParentFilter, page: AccountPageQuery): Promise<Page<ParentAccount>>;
  /** `'too-many-pairs'` where the merged metadata would hold too many pairs. */
  updateParent(
    id: AccountId,
    change: ParentChange,
    caller?: Operator,
  ): Promise<Committed<ParentAccount> | ExternalIdTaken | 'too-many-pairs' | null>;
  setParentStatus(
    id: AccountId,
    status: 'active' | 'suspended',
    claim?: IdempotencyClaim | null,
    caller?: Operator,
  ): Promise<Committed<ParentAccount> | null>;

  /** @param limit most sub-accounts the parent may have, deactivated ones included, where the parent has no limit of its own */
  createSubAccount(
    parent: AccountId,
    draft: NewSubAccount,
    limit: number,
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
  ): Promise<Committed<SubAccount> | ExternalIdTaken | IdTaken | LimitReached>;
  getSubAccount(parent: AccountId, id: AccountId): Promise<SubAccount | null>;
  listSubAccounts(
    parent: AccountId,
    filter: SubAccountFilter,
    page: AccountPageQuery,
  ): Promise<Page<SubAccount>>;
  /** `'too-many-pairs'` where the merged metadata would hold too many pairs. */
  updateSubAccount(
    parent: AccountId,
    id: AccountId,
    change: AccountChange,
    caller?: ChangedBy,
  ): Promise<Committed<SubAccount> | ExternalIdTaken | 'too-many-pairs' | null>;
  /**
   * Creates the sub-account with this `external_id`, or changes it where it is there; its status stays. Where all is so
   * already, nothing is written. Either way the position covers what its create had to wait for.
   *
   * @returns `null` where there is no such parent
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
  /** Idempotent: setting the status it has waits for the position its snapshot saw. */
  setSubAccountStatus(
    parent: AccountId,
    id: AccountId,
    status: 'active' | 'deactivated',
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
  ): Promise<Committed<SubAccount> | null>;

  /**
   * Mints a key for any account; that the account is one of the caller's must have been checked before.
   *
   * @param limit most active keys the account may have, where its parent has no limit of its own
   * @param caller tenants take turns, here and below; operators have no turns
   */
  createKey(
    account: AccountId,
    key: NewApiKey,
    limit: number,
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
  ): Promise<(ApiKey & Replay) | LimitReached | null>;
  /**
   * Imports keys for a parent and its sub-accounts, all of them or none; `null` where there is no such parent. The keys
   * are in use before they are imported, so a 2xx waits for the position.
   *
   * @param keys no digest twice
   * @param limit most active keys an account may have, where its parent has no limit of its own
   * @throws ProblemError `unavailable` while a registered replica is of a version that could not enforce it
   */
  importKeys(
    parent: AccountId,
    keys: readonly KeyToImport[],
    limit: number,
    claim?: IdempotencyClaim | null,
    caller?: Operator,
  ): Promise<Committed<ImportedKeys> | ImportRejected | null>;
  /** @param tenant the parent that asks; absent where an operator does */
  listKeys(account: AccountId, page: KeyPageQuery, tenant?: AccountId): Promise<Page<ApiKey>>;
  /** @param tenant as for {@link listKeys} */
  getKey(account: AccountId, key: KeyId, tenant?: AccountId): Promise<ApiKey | null>;
  /** Keys of all accounts, for operators. */
  findKeys(filter: KeyFilter, page: PageQuery): Promise<Page<HeldKey>>;
  /** The digest of a key of any account, by which decisions look it up. It appears in no response. */
  keyDigest(key: KeyId): Promise<KeyDigest | null>;
  /** `'inactive'` where another `expiresAt` comes too late; a name may change whatever the status. */
  updateKey(
    account: AccountId,
    key: KeyId,
    change: KeyChange,
    caller?: ChangedBy,
  ): Promise<Committed<ApiKey> | KeyInactive | null>;
  /**
   * Makes a key in place of another one of the same account, which is revoked or expires soon. No limit counts it.
   *
   * @returns the new key
   */
  rotateKey(
    account: AccountId,
    key: KeyId,
    rotation: KeyRotation,
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
  ): Promise<Committed<ApiKey> | KeyInactive | null>;
  /** Idempotent, like {@link setSubAccountStatus}. */
  revokeKey(
    account: AccountId,
    key: KeyId,
    claim?: IdempotencyClaim | null,
    caller?: ChangedBy,
  ): Promise<Committed<ApiKey> | null>;
}
