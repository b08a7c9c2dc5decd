import { ProblemError, type Problem } from '../domain/problem.ts';
import type { ExternalIdTaken, IdTaken, LimitReached } from '../ports/tenant-store.ts';

/**
 * The one 404. A path that does not exist, an unknown id, another parent's id and what is no id at all get the same
 * response, or it would tell which ids exist.
 */
export const notFound: Problem = {
  code: 'not_found',
  detail:
    'There is no such operation, or no such resource in this account. Paths have no slash at their end.',
};

/** Returns what was looked up, or throws {@link notFound}. */
export function found<T>(looked: T | null | undefined): T {
  if (looked === null || looked === undefined) throw new ProblemError(notFound);
  return looked;
}

/**
 * Returns what was made, or throws a 409 where another account has what it was to have.
 *
 * @param kind of the accounts among which an `external_id` is unique
 */
export function notTaken<T extends object>(
  outcome: T | ExternalIdTaken | IdTaken,
  kind: 'account' | 'sub_account',
): T {
  if ('idTaken' in outcome)
    throw new ProblemError({ code: 'id_taken', detail: 'Another account has this id.' });
  if (!('taken' in outcome)) return outcome;
  const { taken } = outcome;
  throw new ProblemError({
    code: 'external_id_taken',
    detail:
      kind === 'account'
        ? `The account ${taken} has this external_id.`
        : `The sub-account ${taken} has this external_id. A deactivated sub-account keeps it, too.`,
    extra: { [`${kind}_id`]: taken },
  });
}

/** Returns what was made, or throws a 409. @param what plural, such as `API keys` */
export function withinLimit<T extends object>(outcome: T | LimitReached, what: string): T {
  if (!('limit' in outcome)) return outcome;
  throw new ProblemError({ code: 'limit_reached', detail: `There may be ${outcome.limit} ${what} at most.` });
}
