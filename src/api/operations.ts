import findMyWay from 'find-my-way';
import type { ManagementOperation } from '../authz/management-call.ts';
import type { Problem } from '../domain/problem.ts';
import type { managementScopes } from '../domain/scope.ts';
import { routerOptions } from '../http/router-options.ts';
import type { RoutesWith } from './rest/typebox.ts';

declare module 'fastify' {
  /** Members of a route's `config` that the guard reads. The caller's key must have `scope`. */
  interface FastifyContextConfig {
    readonly scope?: NonNullable<ManagementOperation['scope']>;
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
 * Finds an operation by method and path, for guards and explanations. Returns `null` if the path is not valid UTF-8, because
 * the router of the API rejects such paths.
 */
export type FindOperation = (method: string, path: string) => FoundOperation | null;

/** The operations of each path, by method, as their routes declare them. */
export type DeclaredOperations = Map<string, Map<string, Omit<FoundOperation, 'parameters'>>>;

/**
 * Makes the function that finds operations. A path without the method gets a 405 with `Allow`. Paths of no route, and with
 * an empty parameter (they end with a slash), get `unknown`.
 */
export function operationFinder(declared: DeclaredOperations, unknown: Problem): FindOperation {
  // One method stands for all, so that the most specific path counts, whatever its methods are.
  const router = findMyWay(routerOptions);
  router.on('GET', '/*', unserved);
  for (const [url, operations] of declared) router.on('GET', url, unserved, new Map(operations));
  return (method, path) => {
    const found = router.find('GET', path);
    if (found === null) return null;
    const operations = found.store as ReturnType<DeclaredOperations['get']> | null;
    if (!operations || Object.values(found.params).includes(''))
      return { operation: { rejection: unknown }, parameters: {} };
    const other = (): Problem => methodNotAllowed([...operations.keys()].sort());
    return {
      ...(operations.get(method) ?? { operation: { rejection: other() } }),
      parameters: found.params as FoundOperation['parameters'],
    };
  };
}

function methodNotAllowed(allow: readonly string[]): Problem {
  return { code: 'method_not_allowed', detail: `This path has ${allow.join(', ')}.`, allow };
}

function unserved(): never {
  throw new Error('a route that only finds was asked to serve');
}
