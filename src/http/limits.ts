import { ProblemError } from '../domain/problem.ts';
import type { LimitReached } from '../ports/tenant-store.ts';

/** Gives what was made, or refuses with 409. @param what plural, such as `API keys` */
export function withinLimit<T extends object>(outcome: T | LimitReached, what: string): T {
  if (!('limit' in outcome)) return outcome;
  throw new ProblemError({ code: 'limit_reached', detail: `There may be ${outcome.limit} ${what} at most.` });
}
