import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ManagementOperation } from '../../authz/management-call.ts';
import { ProblemError, type Problem } from '../../domain/problem.ts';
import { notFound } from '../../http/not-found.ts';
import { http } from '../../http1/node-http.ts';
import { operationFinder, type DeclaredOperations, type FindOperation } from '../operations.ts';

const decorator = 'findOperation';

/**
 * Claims every path and method under the prefix of `app`. Unsupported methods get a 405 with `Allow`, and unknown paths
 * get a 404: after the hooks that `app` has already, so only known callers find out which paths exist, and before the
 * body is read.
 *
 * @param register adds the routes, all of them on `app` itself
 * @param unknown problem for unknown paths
 * @param elsewhere public paths under the prefix whose GET and HEAD another plugin serves
 */
export function claimPrefix(
  app: FastifyInstance,
  register: () => void,
  unknown: Problem = notFound,
  elsewhere: readonly string[] = [],
): FindOperation {
  allowEveryMethod(app);
  const open = { operation: {}, open: true } as const;
  const declared: DeclaredOperations = new Map(
    elsewhere.map((path) => [
      `${app.prefix}${path}`,
      new Map(['GET', 'HEAD'].map((method) => [method, open])),
    ]),
  );
  app.addHook('onRoute', ({ url, method, config = {} }) => {
    const operations = declared.get(url) ?? new Map<string, { operation: object }>();
    for (const one of [method].flat()) operations.set(one, { operation: config });
    declared.set(url, operations);
  });
  register();
  const find = operationFinder(declared, unknown);
  app.decorate(decorator, find);
  app.addHook('onRequest', (request, _reply, done) => {
    const { rejection } = operationOf(request);
    done(rejection && new ProblemError(rejection));
  });
  // These routes serve nothing; with them the hooks run. Rejected requests may also have led to another path's route.
  const handler = (): never => {
    throw new Error('a request was let through that must be rejected');
  };
  const unserved = app.supportedMethods.filter((method) => find(method, app.prefix)?.operation.rejection);
  app.route({ method: unserved, url: '', exposeHeadRoute: false, handler });
  app.route({ method: app.supportedMethods, url: '/*', exposeHeadRoute: false, handler });
  return find;
}

/** Returns the operation that a request leads to. Its app must have claimed its prefix. */
export function operationOf({ server, method, url }: FastifyRequest): ManagementOperation {
  return server.getDecorator<FindOperation>(decorator)(method, url)?.operation ?? { rejection: notFound };
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
