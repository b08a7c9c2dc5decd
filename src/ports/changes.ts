import type { ParentCaller } from '../domain/caller.ts';
import type { KeyId } from '../domain/ids.ts';

/** Request that asks for a change. It is recorded in the event; no decision depends on it. */
export interface RequestOrigin {
  readonly requestId: string;
  /** Address of the client, as in the log; `undefined` if the connection was gone. */
  readonly address: string | undefined;
}

/**
 * Key of a parent that asks for a change. The transaction of the change checks the key again: if it was revoked or has
 * expired, or its account was suspended, the change is not made, and the call throws `ProblemError` `invalid_api_key`,
 * `api_key_revoked`, `api_key_expired` or `account_suspended`.
 */
export type ChangeCaller = Pick<ParentCaller, 'accountId' | 'keyId'> & Partial<RequestOrigin>;

/** Operator that asks for a change, by the name of its token. */
export interface Operator extends Partial<RequestOrigin> {
  readonly operator: string;
}

/** Author of a change, which its event names; without an author the event says `system`. */
export type ChangedBy = ChangeCaller | Operator;

/**
 * The `Idempotency-Key` of a request. With it, a client that got no response can send the request again. A repeated
 * create makes nothing new: it returns the resource as it was created, marked as {@link Replay}, with a position that
 * covers the creation. A repeated change of status is carried out again. A rejected request does not use up its
 * `Idempotency-Key`. The store forgets an `Idempotency-Key` after 24 hours.
 *
 * A change with a claim throws `ProblemError` `idempotency_in_flight` while the first request is running, and
 * `idempotency_mismatch` if the `Idempotency-Key` came with a different request before.
 */
export interface IdempotencyClaim {
  /** API key of the caller; different callers may use the same `Idempotency-Key`. */
  readonly caller: KeyId | typeof operatorCaller;
  /** SHA-256 of the `Idempotency-Key`, base64url. */
  readonly key: string;
  /** SHA-256 of the canonical request, base64url. */
  readonly fingerprint: string;
}

/**
 * Stands for the caller in requests of operators, who have no API key: all operators share one set of idempotency keys.
 */
export const operatorCaller = 'operator';

/** Marks a result that an earlier request with the same claim made. */
export interface Replay {
  readonly replayed?: true;
}
