/** Path of the management API. The gateway itself serves it and every path below it (spec section 4). */
export const managementPath = '/v1/sub-accounts';

/** The operator API, on the internal listener. */
export const operatorPath = '/admin/v1';

/** Returns a request target without its query. A query may contain a secret. */
export function withoutQuery(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
