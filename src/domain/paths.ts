/** Path of the management API. The gateway itself serves it and every path below it (spec section 4). */
export const managementPath = '/v1/sub-accounts';

/** The operator API, on the internal listener. */
export const operatorPath = '/admin/v1';

/** Returns a request target without its query. A query may contain a secret. */
export function withoutQuery(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

const byExternalId = /^(\/v1\/sub-accounts\/by-external-id\/)./i;

/**
 * Returns a request target as the log has it: without its query, and without the `external_id` that a management path may
 * end with. Lines in the log outlive a deleted account, so they hold ids only.
 */
export function loggedPath(target: string): string {
  const path = withoutQuery(target);
  const [, start] = byExternalId.exec(path) ?? [];
  return start === undefined ? path : `${start}:external_id`;
}
