/** The gateway itself serves this path and every path below it (spec section 4). */
export const managementPath = '/v1/sub-accounts';

/** The operator API, on the internal listener. */
export const operatorPath = '/admin/v1';
