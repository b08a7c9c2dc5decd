import { noSuch, type Thing } from '../domain/no-such.ts';
import { ProblemError, type Problem } from '../domain/problem.ts';

/** Problem for a request to an unknown path. */
export const notFound: Problem = {
  code: 'not_found',
  detail: 'There is no such operation. Paths have no slash at their end.',
};

/** Returns the result of a look-up. @throws ProblemError {@link noSuch} if nothing was found */
export function found<T>(looked: T | null | undefined, thing: Thing): T {
  if (looked !== null && looked !== undefined) return looked;
  throw new ProblemError(noSuch(thing));
}
