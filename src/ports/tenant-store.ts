import type { ApiKey, KeyDigest } from '../domain/api-key.ts';
import type { Metadata, ParentAccount, SubAccount, SubAccountChange } from '../domain/account.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { Seq } from './facts.ts';

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

/** One page of a list. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
}

/** Which sub-accounts to list; a member that is absent does not filter. */
export interface SubAccountFilter {
  readonly status?: 'active' | 'deactivated';
  readonly externalId?: string;
}

/** A sub-account to be created. */
export interface NewSubAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly externalId: string | null;
  readonly metadata: Metadata;
}

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
 * Accounts and keys. Methods return `null` for what does not exist or belongs to another account, and throw
 * `ProblemError` `unavailable` where the store cannot be reached. Times are the database's.
 */
export interface TenantStore {
  createParent(
    account: { readonly id: AccountId; readonly name: string },
    claim?: IdempotencyClaim | null,
  ): Promise<ParentAccount & Replay>;
  getParent(id: AccountId): Promise<ParentAccount | null>;
  listParents(page: PageQuery): Promise<Page<ParentAccount>>;
  setParentStatus(
    id: AccountId,
    status: 'active' | 'suspended',
    claim?: IdempotencyClaim | null,
  ): Promise<Committed<ParentAccount> | null>;

  /** @param limit most sub-accounts the parent may have, deactivated ones included */
  createSubAccount(
    parent: AccountId,
    draft: NewSubAccount,
    limit: number,
    claim?: IdempotencyClaim | null,
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
    claim?: IdempotencyClaim | null,
  ): Promise<Committed<SubAccount> | null>;

  /**
   * Mints a key for any account; that the request may do so must have been checked before.
   *
   * @param tenant the parent that asks, here and below: tenants take turns. Absent where an operator asks
   */
  createKey(
    account: AccountId,
    key: NewApiKey,
    limit: number,
    claim?: IdempotencyClaim | null,
    tenant?: AccountId,
  ): Promise<(ApiKey & Replay) | LimitReached | null>;
  listKeys(account: AccountId, page: PageQuery, tenant?: AccountId): Promise<Page<ApiKey>>;
  /** The digest of a key of any account, by which decisions look it up. It appears in no response. */
  keyDigest(key: KeyId): Promise<KeyDigest | null>;
  /** Idempotent, like {@link setSubAccountStatus}. */
  revokeKey(
    account: AccountId,
    key: KeyId,
    claim?: IdempotencyClaim | null,
    tenant?: AccountId,
  ): Promise<Committed<ApiKey> | null>;
}

/**
 * The `Idempotency-Key` that a request came with, so that a client which got no response can send it again. A create
 * happens once: sent again, it returns what it made as that was then, marked {@link Replay}, with a position that covers
 * the first one. A change of status happens again. A request that changed nothing because it was rejected does not use
 * up its key, and after 24 hours a key is forgotten.
 *
 * A mutation with a claim throws `ProblemError` `idempotency_in_flight` while the first request is at work, and
 * `idempotency_mismatch` where the key came with another request.
 */
export interface IdempotencyClaim {
  /** The API key that called; two callers may use the same `Idempotency-Key`. */
  readonly caller: KeyId | typeof operatorCaller;
  /** SHA-256 of the `Idempotency-Key`, base64url. */
  readonly key: string;
  /** SHA-256 of what is asked for, base64url. */
  readonly fingerprint: string;
}

/** The operator has no API key: all requests of operators share one set of idempotency keys. */
export const operatorCaller = 'operator';

/** Marks what an earlier request with the same claim made. */
export interface Replay {
  readonly replayed?: true;
}
