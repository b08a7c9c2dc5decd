/**
 * Fastify's `routerOptions`. By default a path with a parameter longer than 100 characters does not match its route and
 * falls through to `/*`. With these options, only the maximum size of the request head limits the length of a
 * parameter.
 */
export const routerOptions = { maxParamLength: 1 << 20 } as const;
