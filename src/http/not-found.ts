import { ProblemError, type Problem } from '../domain/problem.ts';

/**
 * The one 404. A path that does not exist, an unknown id, another parent's id and what is no id at all get the same
 * response, or it would tell which ids exist.
 */
export const notFound: Problem = {
  code: 'not_found',
  detail: 'There is no such operation, or no such resource here. Paths have no slash at their end.',
};

/** Returns what was looked up, or throws {@link notFound}. */
export function found<T>(looked: T | null | undefined): T {
  if (looked === null || looked === undefined) throw new ProblemError(notFound);
  return looked;
}
