/**
 * Fastify's `routerOptions`. By default a path with a parameter of more than 100 characters misses its route and falls
 * through to `/*`. With these options only the size of the request head limits parameters.
 */
export const routerOptions = { maxParamLength: 1 << 20 } as const;
