import type { FastifyInstance, HTTPMethods } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { ManagementOperation } from '../authz/management-call.ts';
import type { managementScopes } from '../domain/scope.ts';
import { notFound } from '../http/not-found.ts';
import { routerOptions } from '../http/router-options.ts';
import type { RoutesWith } from './rest/typebox.ts';

declare module 'fastify' {
  /** A route's statement about access to it. Calls are decided by this statement. */
  interface FastifyContextConfig {
    readonly scope?: NonNullable<ManagementOperation['scope']>;
    readonly rejection?: NonNullable<ManagementOperation['rejection']>;
  }
}

/** Scope that a management route requires (spec section 5, rule 3), and `action` if the route takes no body. */
export interface ScopedAccess {
  readonly scope: (typeof managementScopes)[keyof typeof managementScopes];
  readonly action?: true;
}

/** App of the management API. A route without a scope would be open to every parent key, so it does not compile. */
export type ManagementApp = RoutesWith<ScopedAccess>;

/** The operation for a method and path, and the parameters in the path. */
export interface FoundOperation {
  readonly operation: ManagementOperation;
  /** The operation is public: no key is checked. */
  readonly open?: true;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Finds an operation of the management API as its router does; `null` if the path is not UTF-8, which the router
 * rejects.
 */
export type FindOperation = (method: string, path: string) => FoundOperation | null;

/**
 * Collects the routes that are registered on `app` from now on, for a second router of Fastify's kind. Fastify's own
 * router serves only real requests, and explanations are about requests that were never sent.
 *
 * @param app claims its whole prefix, so that every path has a route for every known method
 * @param open public paths under the prefix whose GET and HEAD another plugin serves
 */
export function collectOperations(app: FastifyInstance, open: readonly string[] = []): FindOperation {
  const routes: Route[] = open.map((path) => ({
    methods: ['GET', 'HEAD'],
    url: `${app.prefix}${path}`,
    found: { operation: {}, open: true },
  }));
  app.addHook('onRoute', ({ url, method, config }) => {
    routes.push({ methods: [method].flat(), url, found: { operation: config ?? {} } });
  });
  // Created lazily, because it takes a megabyte and most processes explain nothing.
  let find: FindOperation | null = null;
  return (method, path) => (find ??= finder(routes))(method, path);
}

interface Route {
  readonly methods: readonly HTTPMethods[];
  readonly url: string;
  readonly found: Omit<FoundOperation, 'parameters'>;
}

function finder(routes: readonly Route[]): FindOperation {
  const router = findMyWay(routerOptions);
  const known = new Set<string>(routes.flatMap(({ methods }) => methods));
  for (const { methods, url, found } of routes)
    for (const method of methods) router.on(method as HTTPMethod, url, unserved, found);
  return (method, path) => {
    const found = router.find(method as HTTPMethod, path);
    if (found !== null)
      return {
        ...(found.store as Route['found']),
        parameters: found.params as FoundOperation['parameters'],
      };
    return known.has(method) ? null : { operation: { rejection: notFound }, parameters: {} };
  };
}

function unserved(): never {
  throw new Error('a route that only explains was asked to serve');
}
