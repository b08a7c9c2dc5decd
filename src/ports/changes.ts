import type { ParentCaller } from '../domain/caller.ts';
import type { KeyId } from '../domain/ids.ts';

/** Which request asks for a change: for the event of the change, no decision depends on it. */
export interface RequestOrigin {
  readonly requestId: string;
  /** Where it came from, as the log says; `undefined` where the connection was gone. */
  readonly address: string | undefined;
}

/**
 * The parent's key that asks for a change. It is looked at once more where the change is made: a mutation with such a caller
 * throws `ProblemError` `invalid_api_key`, `api_key_revoked`, `api_key_expired` or `account_suspended`, and does nothing, where the key was revoked or has expired, or its account
 * was suspended, before that mutation was committed.
 */
export type ChangeCaller = Pick<ParentCaller, 'accountId' | 'keyId'> & Partial<RequestOrigin>;

/** The operator that asks for a change, by the name of its token. */
export interface Operator extends Partial<RequestOrigin> {
  readonly operator: string;
}

/** Who asks for a change. Each change leaves an event that says so; where it is absent, the event says `system`. */
export type ChangedBy = ChangeCaller | Operator;

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
