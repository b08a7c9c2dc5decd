import type { FastifyRequest } from 'fastify';
import { parentOf, type Caller } from '../domain/caller.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { ProblemCode, ReachedLimit } from '../domain/problem.ts';
import type { HoldsFor } from './client-request.ts';

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
  if (more.caller !== undefined) holders.set(request.raw.socket, parentOf(more.caller));
  else if (more.operator !== undefined) holders.set(request.raw.socket, 'operators');
}

const holders = new WeakMap<object, HoldsFor>();

/** Returns for whom the request on a connection is served; `null` if that has not been noted. */
export function holderOf(connection: object): HoldsFor | null {
  return holders.get(connection) ?? null;
}

/** Returns what is known about a request's outcome so far; empty if nothing has been noted. */
export function outcomeOf(request: FastifyRequest): Outcome {
  return outcomes.get(request.raw) ?? {};
}
