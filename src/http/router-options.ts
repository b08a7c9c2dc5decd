/**
 * Fastify's `routerOptions`. By itself the router lets a path with a parameter of more than 100 characters fall past
 * its route to whatever is mounted at `/*`; here the request head is limited, and that limits parameters.
 */
export const routerOptions = { maxParamLength: 1 << 20 } as const;
