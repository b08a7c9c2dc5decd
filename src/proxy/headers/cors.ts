import type { CorsConfig } from '../../config.ts';
import { servedMethods } from '../../domain/acting-decision.ts';

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
   * upstream's.
   *
   * @param headers flat list of names and values; the result has the same form
   * @param origin the page's origin; `undefined` if the request has none
   */
  replace(headers: readonly string[], origin: string | undefined): string[];
}

/** Creates a route's CORS policy. Returns `null` if the route has no `cors` settings. */
export function corsPolicy(config: CorsConfig | null): CorsPolicy | null {
  if (config === null) return null;
  const { origins, credentials, expose, headers, maxAgeS } = config;
  const all = origins.includes('*');
  const listed = new Set(origins);
  const shared = credentials ? ['access-control-allow-credentials', 'true'] : [];
  const forPreflight = [...shared, 'access-control-allow-methods', servedMethods.join(', ')];
  if (headers.length > 0) forPreflight.push('access-control-allow-headers', headers.join(', '));
  forPreflight.push('access-control-max-age', String(maxAgeS));
  const forOthers = [...shared];
  if (expose.length > 0) forOthers.push('access-control-expose-headers', expose.join(', '));

  function grant(origin: string | undefined, granted: readonly string[]): string[] {
    if (origin === undefined || !(all || listed.has(origin))) return [];
    return ['access-control-allow-origin', all ? '*' : origin, ...granted];
  }

  return {
    preflight: (origin) => ['vary', 'Origin', ...grant(origin, forPreflight)],
    replace: (given, origin) => [...withVaryOrigin(given), ...grant(origin, forOthers)],
  };
}

/**
 * Removes CORS headers, and adds `Vary: Origin`. Without `Vary`, a cache could give a page of one origin a response
 * meant for another origin.
 */
function withVaryOrigin(headers: readonly string[]): string[] {
  const kept: string[] = [];
  let vary = '';
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    const lower = name.toLowerCase();
    if (lower === 'vary') vary = vary === '' ? value : `${vary}, ${value}`;
    else if (!lower.startsWith('access-control-')) kept.push(name, value);
  }
  kept.push('vary', vary === '' ? 'Origin' : variesByOrigin.test(vary) ? vary : `${vary}, Origin`);
  return kept;
}

const variesByOrigin = /(?:^|,)[\t ]*(?:origin|\*)[\t ]*(?:,|$)/i;
