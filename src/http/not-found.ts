import { ProblemError } from '../domain/problem.ts';

/**
 * Gives what was looked up, or refuses with the one 404: what is unknown, somebody else's and no id at all must not be
 * told apart.
 */
export function found<T>(looked: T | null | undefined): T {
  if (looked === null || looked === undefined) {
    throw new ProblemError({ code: 'not_found', detail: 'There is no such resource in this account.' });
  }
  return looked;
}
