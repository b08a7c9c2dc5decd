import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import type { ManagementOperation } from '../authz/management-call.ts';
import { notFound } from '../http/not-found.ts';

declare module 'fastify' {
  /** What a route says of itself is what a call on it is decided by. */
  interface FastifyContextConfig {
    readonly scope?: NonNullable<ManagementOperation['scope']>;
    readonly rejection?: NonNullable<ManagementOperation['rejection']>;
  }
}

/** The operation that a method and a path name, and the parameters in the path. */
export interface FoundOperation {
  readonly operation: ManagementOperation;
  /** Whether it is for everyone: no key is looked at. */
  readonly open?: true;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds an operation of the management API as its router would; `null` where the path is not UTF-8, which no router reads. */
export type FindOperation = (method: string, path: string) => FoundOperation | null;

interface Route {
  readonly methods: readonly string[];
  readonly segments: readonly string[];
  readonly operation: ManagementOperation;
  readonly open?: true;
}

/**
 * Collects the routes that are registered on `app` from now on. Fastify's router answers only about requests that it
 * is handed; an explanation asks about requests that were never sent.
 *
 * @param prefix of `app`; its routes are claimed whole, so every method and every path below has an operation
 * @param open paths under the prefix whose GET and HEAD are for everyone, and another plugin's
 */
export function collectOperations(
  app: FastifyInstance,
  prefix: string,
  open: readonly string[] = [],
): FindOperation {
  const routes: Route[] = open.map((path) => ({
    methods: ['GET', 'HEAD'],
    segments: segmentsOf(path),
    operation: {},
    open: true,
  }));
  app.addHook('onRoute', ({ routePath, method, config }) => {
    const operation: FastifyContextConfig = config ?? {};
    routes.push({ methods: [method].flat(), segments: segmentsOf(routePath), operation });
  });

  return (method, path) => {
    const decoded = decodedPath(withoutQuery(path));
    if (decoded === null) return null;
    const sought = segmentsOf(decoded.slice(prefix.length));
    const found = routes
      .filter((route) => route.methods.includes(method) && matches(route.segments, sought))
      .sort(moreSpecificFirst)[0];
    if (found === undefined) return { operation: { rejection: notFound }, parameters: {} };
    const { operation, segments, open } = found;
    return { operation, parameters: parametersOf(segments, sought), ...(open && { open }) };
  };
}

function decodedPath(path: string): string | null {
  try {
    return decodeURI(path);
  } catch {
    return null;
  }
}

/** `''` has none; `/` has one, which is empty: a trailing slash is another path. */
function segmentsOf(path: string): readonly string[] {
  return path.split('/').slice(1);
}

function withoutQuery(path: string): string {
  const query = path.indexOf('?');
  return query === -1 ? path : path.slice(0, query);
}

function matches(template: readonly string[], sought: readonly string[]): boolean {
  if (template.at(-1) === '*') return sought.length >= template.length;
  return (
    template.length === sought.length &&
    // As in Fastify's router, a parameter between two slashes may be empty.
    template.every((part, i) => part.startsWith(':') || part === sought[i])
  );
}

/** Words before parameters, parameters before what takes the rest, from left to right. */
function moreSpecificFirst(a: Route, b: Route): number {
  for (const [i, part] of a.segments.entries()) {
    const difference = generality(part) - generality(b.segments[i] ?? '');
    if (difference !== 0) return difference;
  }
  return 0;
}

function generality(part: string): number {
  return part === '*' ? 2 : part.startsWith(':') ? 1 : 0;
}

function parametersOf(template: readonly string[], sought: readonly string[]): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const [i, part] of template.entries())
    if (part.startsWith(':')) parameters[part.slice(1)] = sought[i] as string;
  return parameters;
}
