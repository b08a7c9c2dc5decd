import type { Problem } from './problem.ts';

/** Kind of resource that is looked up by id. */
export type Thing =
  'account' | 'sub-account' | 'API key' | 'event' | 'plan' | 'erasure' | 'silent replica' | 'session';

/**
 * Returns the 404 for one kind of resource. Unknown ids, another parent's ids and malformed ids all get the same
 * response, so it does not reveal which ids exist.
 */
export function noSuch(thing: Thing): Problem {
  return { code: 'not_found', detail: `There is no such ${thing} here.` };
}
