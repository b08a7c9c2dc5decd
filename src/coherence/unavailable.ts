import { ProblemError } from '../domain/problem.ts';

/** "No safe decision can be made": what a client may try again in a second. `cause` is for the log. */
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
