import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ProblemError, type Problem } from '../../domain/problem.ts';
import { notFound } from '../../http/not-found.ts';

/**
 * Owns everything under the prefix of `app`: a method that a path does not have gets 405 with `Allow`, a path
 * without a route 404. Without it such requests would fall to the route `/*`, which is the proxy.
 *
 * @param register adds the routes, all of them on `app` itself
 * @param unknown the problem on paths that it did not add
 * @param elsewhere paths under the prefix whose GET and HEAD another plugin has
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
  // A trailing slash is not an empty parameter.
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
    // After the hooks that authenticate, so that only a known caller learns which paths exist; before the body is read.
    onRequest: (_request, _reply, done) => done(new ProblemError(rejection)),
    handler: () => {
      throw new Error('a request was let through that must be rejected');
    },
  });
}

/** Fastify routes the common methods only; what Node parses beyond them would skip the routes and their hooks. */
function allowEveryMethod(app: FastifyInstance): void {
  const routed = new Set(app.supportedMethods);
  for (const method of METHODS) {
    // A CONNECT never gets here: Node gives it an event of its own.
    if (!routed.has(method) && method !== 'CONNECT') app.addHttpMethod(method);
  }
}
