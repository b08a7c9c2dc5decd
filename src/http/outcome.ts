import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/caller.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { ProblemCode, ReachedLimit } from '../domain/problem.ts';

/** Outcome of a request that Fastify answers, for logs, metrics and usage. */
export interface Outcome {
  /** Set if the request was rejected. */
  readonly code?: ProblemCode;
  /** Limit that the request reached; set only if the request was rejected for it. */
  readonly limit?: ReachedLimit | undefined;
  /** Set once the caller is known. */
  readonly caller?: Pick<Caller, 'accountId' | 'keyId'>;
  /** Operator that calls, by the name of its token. */
  readonly operator?: string;
  /** Owner of the key of a rejected call, as far as known. Logs show it; it does not count as a use of the key. */
  readonly rejected?: { readonly accountId: AccountId | null; readonly keyId: KeyId | null };
}

const outcomes = new WeakMap<FastifyRequest['raw'], Outcome>();

/** Adds members to the outcome of a request. */
export function noteOutcome(request: FastifyRequest, more: Outcome): void {
  outcomes.set(request.raw, { ...outcomes.get(request.raw), ...more });
}

/** The outcome of a request so far. */
export function outcomeOf(request: FastifyRequest): Outcome {
  return outcomes.get(request.raw) ?? {};
}
