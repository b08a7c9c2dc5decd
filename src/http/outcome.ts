import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/caller.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { ProblemCode, ReachedLimit } from '../domain/problem.ts';

/** Outcome of a request that Fastify serves. Logs, metrics and usage read it. */
export interface Outcome {
  /** Code of the problem, if the request was rejected. */
  readonly code?: ProblemCode;
  /** Used-up limit, if the request was rejected because of it. */
  readonly limit?: ReachedLimit | undefined;
  /** Set once the caller is known. */
  readonly caller?: Caller;
  /** Name of the operator whose token or session was sent. */
  readonly operator?: string;
  /**
   * Account and key of a rejected call. Each is `null` if unknown. Both are logged, but the call does not count as a
   * use of the key.
   */
  readonly rejected?: { readonly accountId: AccountId | null; readonly keyId: KeyId | null };
}

const outcomes = new WeakMap<FastifyRequest['raw'], Outcome>();

/** Adds members to the outcome of a request. */
export function noteOutcome(request: FastifyRequest, more: Outcome): void {
  outcomes.set(request.raw, { ...outcomes.get(request.raw), ...more });
  if (more.caller ?? more.operator) Object.assign(request.raw.socket, { isCallerKnown: true });
}

/** Returns what is known about a request's outcome so far; empty if nothing has been noted. */
export function outcomeOf(request: FastifyRequest): Outcome {
  return outcomes.get(request.raw) ?? {};
}
