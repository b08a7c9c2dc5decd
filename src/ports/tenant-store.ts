import type { ApiKey, KeyDigest } from '../domain/api-key.ts';
import type { Metadata, ParentAccount, SubAccount, SubAccountChange } from '../domain/account.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { Seq } from './facts.ts';

/**
 * What a mutation made, and the position everybody must have reached before a 2xx may be answered.
 * `seq: null` where nobody can hold an old answer about it.
 */
export interface Committed<T> extends Replay {
  readonly value: T;
  readonly seq: Seq | null;
}

/** One page, newest first. `after` is the id of the last row of the page before. */
export interface PageQuery {
  readonly limit: number;
  readonly after?: string;
}
export interface Page<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
}

export interface SubAccountFilter {
  readonly status?: 'active' | 'deactivated';
  readonly externalId?: string;
}

export interface NewSubAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly externalId: string | null;
  readonly metadata: Metadata;
}

export interface NewApiKey {
  readonly id: KeyId;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly digest: KeyDigest;
  readonly clientSecretDigest: KeyDigest;
  readonly prefix: string;
  readonly last4: string;
  readonly expiresAt: Date | null;
}

/** The `external_id` belongs to another sub-account of the same parent. */
export interface ExternalIdTaken {
  readonly taken: AccountId;
}

/** A limit of the configuration would be passed. */
export interface LimitReached {
  readonly limit: number;
}

/**
 * Accounts and keys. Methods answer `null` for what does not exist or belongs to somebody else, and throw
 * `ProblemError` `unavailable` where the store cannot be reached. Times are the database's.
 */
export interface TenantStore {
  createParent(account: { readonly id: AccountId; readonly name: string }): Promise<ParentAccount & Replay>;
  getParent(id: AccountId): Promise<ParentAccount | null>;
  listParents(page: PageQuery): Promise<Page<ParentAccount>>;
  setParentStatus(id: AccountId, status: 'active' | 'suspended'): Promise<Committed<ParentAccount> | null>;

  /** @param limit most sub-accounts the parent may have, deactivated ones included */
  createSubAccount(
    parent: AccountId,
    draft: NewSubAccount,
    limit: number,
  ): Promise<Committed<SubAccount> | ExternalIdTaken | LimitReached>;
  getSubAccount(parent: AccountId, id: AccountId): Promise<SubAccount | null>;
  listSubAccounts(parent: AccountId, filter: SubAccountFilter, page: PageQuery): Promise<Page<SubAccount>>;
  /** `'too-many-pairs'` where the merged metadata would hold too many pairs. */
  updateSubAccount(
    parent: AccountId,
    id: AccountId,
    change: SubAccountChange,
  ): Promise<Committed<SubAccount> | ExternalIdTaken | 'too-many-pairs' | null>;
  /** Idempotent: setting the status it has waits for the position its snapshot saw. */
  setSubAccountStatus(
    parent: AccountId,
    id: AccountId,
    status: 'active' | 'deactivated',
  ): Promise<Committed<SubAccount> | null>;

  /** Keys of any account, parent or sub-account; whose account it may be is the caller's to check. */
  createKey(
    account: AccountId,
    key: NewApiKey,
    limit: number,
  ): Promise<(ApiKey & Replay) | LimitReached | null>;
  listKeys(account: AccountId, page: PageQuery): Promise<Page<ApiKey>>;
  /** What decisions know a key by, of whatever account it is; never shown to anybody. */
  keyDigest(key: KeyId): Promise<KeyDigest | null>;
  /** Idempotent, like {@link setSubAccountStatus}. */
  revokeKey(account: AccountId, key: KeyId): Promise<Committed<ApiKey> | null>;

  /** The mutations again, for one request that may come more than once; see {@link OnceStore}. */
  once(request: RepeatableRequest): OnceStore;
}

/**
 * Mutations that stand for one request. What makes something makes it once, and answers it again as it was then, marked
 * {@link Replay}, with a position that covers the first one; what sets a state sets it again. A request that was
 * refused counts as not made. After 24 hours it is forgotten.
 *
 * All throw `ProblemError`: `idempotency_in_flight` while the first one is at work, `idempotency_mismatch` where that
 * was another request.
 */
export type OnceStore = Pick<
  TenantStore,
  'createParent' | 'setParentStatus' | 'createSubAccount' | 'setSubAccountStatus' | 'createKey' | 'revokeKey'
>;

/** A request that its caller has given a name, to be able to send it again when no answer came. */
export interface RepeatableRequest {
  /** Whose name it is. */
  readonly caller: KeyId | typeof operatorCaller;
  /** SHA-256 of the name, base64url. */
  readonly key: string;
  /** SHA-256 of what is asked for, base64url: the same name for something else is a mistake. */
  readonly fingerprint: string;
}

/** The operator has no API key: requests of the operator are named together. */
export const operatorCaller = 'operator';

/** What was made by an earlier request of the same name, as it was then. */
export interface Replay {
  readonly replayed?: true;
}
