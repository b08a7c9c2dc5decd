import { ProblemError } from '../domain/problem.ts';

/** Problem for "no safe decision can be made"; a client may try again in a second. `cause` is for the log. */
export function unavailable(cause?: unknown): ProblemError {
  if (cause instanceof ProblemError) return cause;
  return new ProblemError(
    {
      code: 'unavailable',
      detail: 'The gateway cannot reach its store, and it does not guess. Try again in a moment.',
      retryAfter: 1,
    },
    cause === undefined ? undefined : { cause },
  );
}

/** Problem for too many look-ups of facts that are not in memory: more than the stores can serve. */
export function overloaded(): ProblemError {
  return new ProblemError({
    code: 'overloaded',
    detail: 'Too many requests with keys or tenants that were not used lately. Try again in a moment.',
    retryAfter: 1,
  });
}

/** Problem for a tenant with more look-ups at once than its turns allow. */
export function tooManyLookUps(): ProblemError {
  return new ProblemError({
    code: 'too_many_requests',
    detail:
      'Too many requests of this account name accounts that were not used lately. Send fewer of them at once.',
    retryAfter: 1,
    limit: 'look_ups',
  });
}
