import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/caller.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { ProblemCode, ReachedLimit } from '../domain/problem.ts';

/** Outcome of a request that Fastify serves, for logs, metrics and usage. */
export interface Outcome {
  /** Set if the request was rejected. */
  readonly code?: ProblemCode;
  /** Limit that the request reached; set only if the request was rejected for it. */
  readonly limit?: ReachedLimit | undefined;
  /** Set once the caller is known. */
  readonly caller?: Pick<Caller, 'accountId' | 'keyId'>;
  /** Name of the token with which an operator authenticated. */
  readonly operator?: string;
  /**
   * Key of a rejected call, and the account that owns the key; each is `null` if unknown. Logs show both. The call does
   * not count as a use of the key.
   */
  readonly rejected?: { readonly accountId: AccountId | null; readonly keyId: KeyId | null };
}

const outcomes = new WeakMap<FastifyRequest['raw'], Outcome>();

/** Adds members to the outcome of a request. */
export function noteOutcome(request: FastifyRequest, more: Outcome): void {
  outcomes.set(request.raw, { ...outcomes.get(request.raw), ...more });
}

/** Returns the outcome of a request so far; it has no members if nothing was noted. */
export function outcomeOf(request: FastifyRequest): Outcome {
  return outcomes.get(request.raw) ?? {};
}
