import { isMapping } from './pointer.ts';
import type { GatewayFile } from './gateway-file.ts';
import type { RouteFile } from './route-file.ts';

/**
 * Copies settings from `route_defaults` into the routes that leave them out. An open route inherits no scopes, because
 * it has no callers that could hold them.
 */
export function inheritRouteDefaults(document: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { route_defaults: defaults = {}, routes } = document;
  if (!Array.isArray(routes)) return { ...document };
  return {
    ...document,
    routes: routes.map((route: unknown) => {
      if (!isMapping(route)) return undefined;
      return layUnder(route['authentication'] === 'none' ? withoutScopes(defaults) : defaults, route);
    }),
  };
}

function withoutScopes(defaults: unknown): unknown {
  if (!isMapping(defaults)) return defaults;
  const { scopes: _scopes, ...rest } = defaults;
  return rest;
}

function layUnder(below: unknown, above: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged: Record<string, unknown> = {
    ...(isMapping(below) ? below : {}),
  };
  for (const [key, value] of Object.entries(above)) {
    merged[key] = isMapping(value) ? layUnder(merged[key], value) : value;
  }
  return merged;
}

/**
 * Returns the routes in the file. If `upstream_url` is set, it becomes the upstream of the route `/`, which is added if
 * missing.
 */
export function effectiveRoutes(file: GatewayFile): readonly RouteFile[] {
  const url = file.upstream_url;
  if (url === undefined) return file.routes;
  const named = file.routes.some(({ prefix }) => prefix === '/');
  return named
    ? file.routes.map((route) => (route.prefix === '/' ? { ...route, upstream: url } : route))
    : [...file.routes, { ...file.route_defaults, authentication: 'required', prefix: '/', upstream: url }];
}

/** Whether the document names any upstream, valid or not. */
export function namesUpstream({ upstream_url: url, routes }: Readonly<Record<string, unknown>>): boolean {
  return url !== undefined || (Array.isArray(routes) && routes.length > 0);
}
