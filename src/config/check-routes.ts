import { managementPath } from '../domain/paths.ts';
import type { Origins } from './environment.ts';
import type { UncheckedFile } from './gateway-file.ts';
import { formatPath, type Path } from './pointer.ts';
import type { SchemaFault } from './validate.ts';

/**
 * Rejects two routes with the same prefix, prefixes under the management path, open routes without a limit, and
 * upstreams that are this gateway's own listeners.
 */
export function checkRoutes(file: UncheckedFile, origins: Origins): SchemaFault[] {
  const faults: SchemaFault[] = [];
  const seen = new Map<string, Path>();
  for (const [index, route] of file.routes.entries()) {
    const path = ['routes', index, 'prefix'];
    const prefix = route?.prefix;
    if (prefix !== undefined) {
      // Prefixes that differ only in case count as the same, because some servers ignore case in paths.
      const folded = prefix.toLowerCase();
      const other = seen.get(folded);
      if (other !== undefined) faults.push({ path, detail: `is the same path as ${formatPath(other)}` });
      else seen.set(folded, path);
      if (folded === managementPath || folded.startsWith(`${managementPath}/`)) {
        const detail = `must not lie under ${managementPath}, which the gateway serves itself`;
        faults.push({ path, detail });
      }
    }
    faults.push(...checkOpen(route, ['routes', index]));
    if (route?.upstream !== undefined && isOwnListener(file, route.upstream)) {
      faults.push({ path: ['routes', index, 'upstream'], detail: ownListener });
    }
  }
  if (file.upstream_url !== undefined) {
    const root = seen.get('/');
    if (root !== undefined && !origins.has('upstream_url')) {
      const detail = `names the same path as ${formatPath(root)}; leave one of them out`;
      faults.push({ path: ['upstream_url'], detail });
    }
    if (isOwnListener(file, file.upstream_url)) faults.push({ path: ['upstream_url'], detail: ownListener });
  }
  return faults;
}

/** Rejects an open route without a limit or with scopes, and a limit of a route that is not open. */
function checkOpen(route: UncheckedFile['routes'][number], path: Path): SchemaFault[] {
  const perSecond = { path: [...path, 'open_per_second'] };
  if (route?.authentication === 'required')
    return route.open_per_second === undefined
      ? []
      : [{ ...perSecond, detail: 'has no effect without `authentication: none`' }];
  if (route?.authentication !== 'none') return [];
  const faults: SchemaFault[] = [];
  if (route.open_per_second === undefined)
    faults.push({ ...perSecond, detail: 'is required with `authentication: none`' });
  if (route.scopes?.read !== undefined || route.scopes?.write !== undefined)
    faults.push({ path: [...path, 'scopes'], detail: 'cannot be asked for with `authentication: none`' });
  return faults;
}

const ownListener = 'is a listener of this gateway: requests would loop';

function isOwnListener({ listen, internal }: UncheckedFile, upstream: string): boolean {
  if (upstream.startsWith('unix:')) return false;
  const { protocol, hostname, port } = new URL(upstream);
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  return [listen, internal].some(
    (own) =>
      own.port === number && (nameOf(hostname) === own.host || (isLocal(own.host) && isLoopback(hostname))),
  );
}

/** Returns the host of a URL as `listen.host` has it: an IPv6 address without brackets. */
function nameOf(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function isLocal(host: string): boolean {
  return isLoopback(host) || host === '0.0.0.0' || host === '::';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || host.startsWith('127.');
}
