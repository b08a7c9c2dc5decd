import type { ParentCaller } from '../domain/caller.ts';

/** The request behind a change. It is recorded in the event, but no decision depends on it. */
export interface RequestOrigin {
  readonly requestId: string;
  /** The client's address, as logged; `undefined` if the connection was already gone. */
  readonly address: string | undefined;
  /** What the changes of one parent may leave in a day, for a parent's request (`require_budget.sql`). */
  readonly budget?: { readonly bytes: number; readonly api_keys: number };
}

/**
 * The parent and the API key that request a change. The transaction that makes the change checks both again. If the key
 * was revoked or has expired, or the parent was suspended, nothing is changed, and the call throws `ProblemError`
 * `invalid_api_key`, `api_key_revoked`, `api_key_expired` or `account_suspended`.
 */
export type ChangeCaller = Pick<ParentCaller, 'accountId' | 'keyId'> &
  Partial<RequestOrigin> & {
    /**
     * Id of the portal session that makes the change, with the key that made the session. It is checked again, too: the
     * call throws `ProblemError` `unauthenticated` if it has ended.
     */
    readonly portalSession?: string;
  };

/** The operator who requests a change, identified by token name. */
export interface Operator extends Partial<RequestOrigin> {
  readonly operator: string;
}

/** Author of a change, named in its event. If there is no author, the event says `system`. */
export type ChangedBy = ChangeCaller | Operator;

/**
 * A request's `Idempotency-Key`, which lets a client that got no response send the request again. If the request
 * creates a resource, the repeated call creates nothing. It returns the resource as it was first created, marked as
 * {@link Replay}, with a log position that covers the creation. A repeated status change is carried out again. A
 * rejected request does not use up its `Idempotency-Key`. The store forgets an `Idempotency-Key` after 24 hours.
 *
 * A call with a claim throws `ProblemError` `idempotency_in_flight` while the first request is still running, and
 * `idempotency_mismatch` if the `Idempotency-Key` was used before with a different request.
 */
export interface IdempotencyClaim {
  /** Id of the caller's API key or portal session, or {@link operatorCaller}. Different callers may use the same `Idempotency-Key`. */
  readonly caller: string;
  /** SHA-256 of the `Idempotency-Key`, base64url. */
  readonly key: string;
  /** SHA-256 of the canonical request, base64url. */
  readonly fingerprint: string;
}

/**
 * Stands in for the caller in requests made by operators, who have no API key. All operators share one set of
 * idempotency keys.
 */
export const operatorCaller = 'operator';

/** Marks a result that was produced by an earlier request with the same claim. */
export interface Replay {
  readonly replayed?: true;
}
