import { ProblemError } from '../domain/problem.ts';

/**
 * Returns the problem to report if a request cannot be decided safely right now. The client may retry after a second.
 * If `cause` is itself a problem, returns `cause` instead. Any other `cause` only goes to the log.
 */
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

/** Returns the problem to report if a request needs facts from the stores while too many other look-ups are waiting. */
export function overloaded(): ProblemError {
  return new ProblemError({
    code: 'overloaded',
    detail: 'Too many requests with keys or tenants that were not used lately. Try again in a moment.',
    retryAfter: 1,
  });
}

/** Returns the problem to report if a request's tenant already has too many look-ups waiting. */
export function tooManyLookUps(): ProblemError {
  return new ProblemError({
    code: 'too_many_requests',
    detail:
      'Too many requests of this account name accounts that were not used lately. Send fewer of them at once.',
    retryAfter: 1,
    limit: 'look_ups',
  });
}
