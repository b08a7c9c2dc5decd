/** Everything at and below this path belongs to the gateway itself (spec section 4). */
export const managementPath = '/v1/sub-accounts';

/** The operator API, on the internal listener. */
export const operatorPath = '/admin/v1';
