import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/caller.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { ProblemCode, ReachedLimit } from '../domain/problem.ts';

/** What is known about a request that Fastify responds to, for logs, metrics and usage. */
export interface Outcome {
  /** Set where it was rejected. */
  readonly code?: ProblemCode;
  /** Which limit was reached, where that is why. */
  readonly limit?: ReachedLimit | undefined;
  /** Set once it is known who calls. */
  readonly caller?: Pick<Caller, 'accountId' | 'keyId'>;
  /** The operator that calls, by the name of the token. */
  readonly operator?: string;
  /** Whose key came with a call that was rejected, as far as that is known: for the log, which does not count it as a use. */
  readonly rejected?: { readonly accountId: AccountId | null; readonly keyId: KeyId | null };
}

const outcomes = new WeakMap<FastifyRequest['raw'], Outcome>();

/** Adds to what is known about a request. */
export function noteOutcome(request: FastifyRequest, more: Outcome): void {
  outcomes.set(request.raw, { ...outcomes.get(request.raw), ...more });
}

/** What is known about a request by now. */
export function outcomeOf(request: FastifyRequest): Outcome {
  return outcomes.get(request.raw) ?? {};
}
