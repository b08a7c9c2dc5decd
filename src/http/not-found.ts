import { ProblemError, type Problem } from '../domain/problem.ts';

/** The 404 of an unknown path. */
export const notFound: Problem = {
  code: 'not_found',
  detail: 'There is no such operation. Paths have no slash at their end.',
};

/** Kind of a resource that is looked up by id. */
export type Thing = 'account' | 'sub-account' | 'API key' | 'event';

/** The 404 of one kind. Unknown ids, ids of another parent and malformed ids get the same, so that it does not tell which ids exist. */
export function noSuch(thing: Thing): Problem {
  return { code: 'not_found', detail: `There is no such ${thing} here.` };
}

/** Returns the result of a look-up. @throws ProblemError {@link noSuch} if it is not there */
export function found<T>(looked: T | null | undefined, thing: Thing): T {
  if (looked !== null && looked !== undefined) return looked;
  throw new ProblemError(noSuch(thing));
}
