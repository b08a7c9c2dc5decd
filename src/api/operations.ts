import type { FastifyInstance, HTTPMethods } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { ManagementOperation } from '../authz/management-call.ts';
import type { managementScopes } from '../domain/scope.ts';
import { notFound } from '../http/not-found.ts';
import { routerOptions } from '../http/router-options.ts';
import type { RoutesWith } from './rest/typebox.ts';

declare module 'fastify' {
  /**
   * Members of a route's `config` that the guard reads. The caller's key must have `scope`. If `rejection` is set,
   * the route rejects every call.
   */
  interface FastifyContextConfig {
    readonly scope?: NonNullable<ManagementOperation['scope']>;
    readonly rejection?: NonNullable<ManagementOperation['rejection']>;
    /** Whether a call with this body only takes rights away; without a body yet, whether it may. */
    readonly takesAway?: (body: unknown) => boolean;
  }
}

/** Scope that a management route requires (spec section 5, rule 3). `action` marks a route that takes no body. */
export interface ScopedAccess {
  readonly scope: (typeof managementScopes)[keyof typeof managementScopes];
  readonly action?: true;
  readonly takesAway?: (body: unknown) => boolean;
}

/**
 * App for the management API. Every route must declare a scope, otherwise the route does not compile. If a route had no
 * scope, every key of a parent could call it.
 */
export type ManagementApp = RoutesWith<ScopedAccess>;

/** The operation that a method and path lead to, and the path parameters. */
export interface FoundOperation {
  readonly operation: ManagementOperation;
  /** The operation is public, so no key is checked. */
  readonly open?: true;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Finds an operation in the same way as the router of the management API. Returns `null` if the path is not valid
 * UTF-8, because the router rejects such paths.
 */
export type FindOperation = (method: string, path: string) => FoundOperation | null;

/**
 * Collects the routes that are registered on `app` from now on, and returns a function that finds them. Explanations
 * need this function, because Fastify's own router only serves real requests.
 *
 * @param app app that claims its whole prefix, so that every path has a route for every known method
 * @param open public paths under the prefix; another plugin serves their GET and HEAD
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
  // The router is created on first use, because it takes a megabyte of memory and most processes explain no request.
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
