import { isDeepStrictEqual } from 'node:util';
import {
  foldHeaderName,
  headerNames,
  headerRule,
  readsAsReserved,
  type HeaderNames,
} from '../domain/header-names.ts';
import type { UncheckedFile } from './gateway-file.ts';
import type { Path } from './pointer.ts';
import type { RouteSettings } from './route-file.ts';
import type { SchemaFault } from './validate.ts';

/** Rejects header names that a route must not pass on, and CORS settings that are incomplete or unsafe. */
export function checkRouteHeaders({
  headers,
  authentication,
  route_defaults,
  routes,
}: UncheckedFile): SchemaFault[] {
  const names = headerNames(headers.prefix, present(authentication.headers));
  const faults = [
    ...checkListed('underscore_headers', ['route_defaults'], route_defaults, names),
    ...checkListed('pass_headers', ['route_defaults'], route_defaults, names),
    ...checkCors(['route_defaults'], route_defaults),
  ];
  for (const [index, route = {}] of routes.entries()) {
    const path = ['routes', index];
    // Faults in inherited settings are reported only once, under route_defaults.
    for (const list of ['underscore_headers', 'pass_headers'] as const)
      if (!isDeepStrictEqual(route[list], route_defaults[list]))
        faults.push(...checkListed(list, path, route, names));
    if (!isDeepStrictEqual(route.cors, route_defaults.cors)) faults.push(...checkCors(path, route));
  }
  return faults;
}

/**
 * Rejects listed header names that a server may mistake for headers that clients must not set. Names that the schema
 * rejected are `undefined`.
 */
function checkListed(
  list: 'underscore_headers' | 'pass_headers',
  path: Path,
  { [list]: listed = [] }: Partial<RouteSettings>,
  names: HeaderNames,
): SchemaFault[] {
  const isReserved = (name: string): boolean =>
    list === 'underscore_headers'
      ? readsAsReserved(name, names)
      : !['identity', 'pass'].includes(headerRule(name, names));
  return listed.flatMap((name: string | undefined, index) =>
    name === undefined || !isReserved(name) ? [] : [{ path: [...path, list, index], detail: reserved }],
  );
}

/** Rejects CORS settings that name no origins or that allow credentials for pages of every origin. */
function checkCors(path: Path, { cors }: Partial<RouteSettings>): SchemaFault[] {
  if (cors === undefined) return [];
  const { origins, credentials } = cors;
  if (origins.length === 0) return [{ path: [...path, 'cors'], detail: 'names no origins' }];
  if (!credentials || !origins.includes('*')) return [];
  const detail = 'cannot be combined with `*`: every page could then act for its visitors';
  return [{ path: [...path, 'cors', 'credentials'], detail }];
}

/**
 * Headers that upstreams need. The gateway strips every request header that matches `headers.prefix` or
 * `authentication.headers`. So neither setting may match an ordinary header.
 */
export const ordinaryHeaders = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'authorization',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'host',
  'if-match',
  'if-none-match',
  'idempotency-key',
  'origin',
  'range',
  'sec-websocket-key',
  'traceparent',
  'tracestate',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'x-forwarded-for',
  'x-request-id',
];

/** Rejects a list of schemes that names one twice, or that lacks `Bearer`. */
export function checkSchemes({ authentication: { schemes } }: UncheckedFile): SchemaFault[] {
  const path = ['authentication', 'schemes'];
  const repeated = schemes.flatMap((scheme, index) =>
    scheme === undefined || schemes.indexOf(scheme) === index
      ? []
      : [{ path: [...path, index], detail: 'is in this list already' }],
  );
  if (schemes.includes('Bearer') || schemes.includes(undefined)) return repeated;
  return [
    ...repeated,
    { path, detail: 'must contain Bearer, which the clients and commands of this package send' },
  ];
}

/** Rejects headers that cannot carry an API key, because they have another meaning or apply only to one connection. */
export function checkKeyHeaders({ headers, authentication }: UncheckedFile): SchemaFault[] {
  const names = headerNames(headers.prefix);
  const seen = new Set<string>();
  return authentication.headers.flatMap((name: string | undefined, index) => {
    if (name === undefined) return [];
    const path = ['authentication', 'headers', index];
    const folded = foldHeaderName(name);
    const rule = headerRule(name, names);
    const ordinary = ordinaryHeaders.includes(folded) || folded.startsWith('sec-');
    if (ordinary || (rule !== 'pass' && rule !== 'underscore'))
      return [{ path, detail: 'has a meaning of its own, so it cannot carry an API key' }];
    if (seen.has(folded)) return [{ path, detail: 'can be read as another header of this list' }];
    seen.add(folded);
    return [];
  });
}

function present(names: readonly (string | undefined)[]): string[] {
  return names.filter((name) => name !== undefined);
}

const reserved =
  'can be read as a name that clients must not set: a header that the gateway sets or checks, or a variable of the server';
