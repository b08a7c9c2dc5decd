import { ProblemError } from '../domain/problem.ts';

/** More is asked for that memory does not hold than the stores are to be bothered with. */
export function overloaded(): ProblemError {
  return new ProblemError({
    code: 'overloaded',
    detail: 'Too many requests with keys or tenants that were not used lately. Try again in a moment.',
    retryAfter: 1,
  });
}
