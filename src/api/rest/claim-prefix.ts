import type { FastifyInstance } from 'fastify';
import { ProblemError, type Problem } from '../../domain/problem.ts';
import { notFound } from '../../http/not-found.ts';
import { http } from '../../http1/node-http.ts';

/**
 * Claims every path and method under the prefix of `app`. Unsupported methods get a 405 with `Allow`, and unknown paths
 * get a 404.
 *
 * @param register adds the routes, all of them on `app` itself
 * @param unknown problem for unknown paths
 * @param elsewhere paths under the prefix whose GET and HEAD another plugin serves
 */
export function claimPrefix(
  app: FastifyInstance,
  register: () => void,
  unknown: Problem = notFound,
  elsewhere: readonly string[] = [],
): void {
  allowEveryMethod(app);
  const known = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ routePath, method }) => {
    const methods = known.get(routePath) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    known.set(routePath, methods);
  });
  register();
  for (const url of elsewhere) known.set(url, new Set(['GET', 'HEAD']));
  for (const [url, methods] of [...known]) reject(app, url, methodNotAllowed([...methods].sort()), methods);
  if (!known.has('')) reject(app, '', unknown);
  // Rejects paths that end with a slash. Otherwise a route that ends with a parameter would match such a path, with an
  // empty parameter.
  const slashes = new Set(['/', ...[...known.keys()].flatMap((url) => /^.*\/(?=:[^/]+$)/.exec(url) ?? [])]);
  for (const url of slashes) reject(app, url, unknown);
  reject(app, '/*', unknown);
}

function methodNotAllowed(allow: readonly string[]): Problem {
  return { code: 'method_not_allowed', detail: `This path has ${allow.join(', ')}.`, allow };
}

function reject(app: FastifyInstance, url: string, rejection: Problem, except?: ReadonlySet<string>): void {
  app.route({
    method: app.supportedMethods.filter((method) => !except?.has(method)),
    url,
    prefixTrailingSlash: 'slash',
    exposeHeadRoute: false,
    config: { rejection },
    // Runs after authentication, so only known callers find out which paths exist. Runs before the body is read.
    onRequest: (_request, _reply, done) => done(new ProblemError(rejection)),
    handler: () => {
      throw new Error('a request was let through that must be rejected');
    },
  });
}

/**
 * Adds the methods that Node can parse but Fastify does not route; otherwise requests with these methods would bypass
 * the routes and their hooks.
 */
function allowEveryMethod(app: FastifyInstance): void {
  const routed = new Set(app.supportedMethods);
  for (const method of http.METHODS) {
    // Node emits CONNECT as a separate event, so Fastify never sees it.
    if (!routed.has(method) && method !== 'CONNECT') app.addHttpMethod(method);
  }
}
