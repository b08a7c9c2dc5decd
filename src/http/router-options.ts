/**
 * Fastify's `routerOptions`. By default a path parameter of more than 100 characters misses its route and falls through to
 * `/*`. Here only the size of the request head limits parameters.
 */
export const routerOptions = { maxParamLength: 1 << 20 } as const;
