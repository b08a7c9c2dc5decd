import type { CorsConfig } from '../../config.ts';
import { servedMethods } from '../../domain/acting-decision.ts';
import { withoutNamed } from './header-rules.ts';

/**
 * A route's CORS headers, for browsers that send requests from pages of other origins (Fetch standard, "CORS
 * protocol").
 */
export interface CorsPolicy {
  /**
   * Returns the headers of the response to a preflight.
   *
   * @param origin the page's origin; `undefined` if the request has none
   */
  preflight(origin: string | undefined): string[];
  /**
   * Returns the headers of a response to any request but a preflight. The gateway's CORS headers replace the
   * upstream's. `Vary` names `Origin` already ({@link Caching}).
   *
   * @param headers flat list of names and values; the result has the same form
   * @param origin the page's origin; `undefined` if the request has none
   */
  replace(headers: readonly string[], origin: string | undefined): string[];
}

/** Creates a route's CORS policy. Returns `null` if the route has no `cors` settings. */
export function corsPolicy(config: CorsConfig | null): CorsPolicy | null {
  if (config === null) return null;
  const { origins, credentials, expose, headers, maxAgeMs } = config;
  const all = origins.includes('*');
  const listed = new Set(origins);
  const shared = credentials ? ['access-control-allow-credentials', 'true'] : [];
  const forPreflight = [...shared, 'access-control-allow-methods', servedMethods.join(', ')];
  if (headers.length > 0) forPreflight.push('access-control-allow-headers', headers.join(', '));
  forPreflight.push('access-control-max-age', String(maxAgeMs / 1000));
  const forOthers = [...shared];
  if (expose.length > 0) forOthers.push('access-control-expose-headers', expose.join(', '));

  function grant(origin: string | undefined, granted: readonly string[]): string[] {
    if (origin === undefined || !(all || listed.has(origin))) return [];
    return ['access-control-allow-origin', all ? '*' : origin, ...granted];
  }

  return {
    preflight: (origin) => ['vary', 'Origin', ...grant(origin, forPreflight)],
    replace: (given, origin) => [...withoutNamed(given, corsNames), ...grant(origin, forOthers)],
  };
}

const corsNames = { has: (name: string) => name.startsWith('access-control-') };
