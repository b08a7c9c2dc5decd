import type { Problem } from './problem.ts';

/** Kind of a resource that is looked up by id. */
export type Thing = 'account' | 'sub-account' | 'API key' | 'event' | 'silent replica';

/**
 * Returns the 404 for one kind of resource. Unknown ids, ids of another parent and malformed ids get the same response,
 * so that the response does not tell which ids exist.
 */
export function noSuch(thing: Thing): Problem {
  return { code: 'not_found', detail: `There is no such ${thing} here.` };
}
