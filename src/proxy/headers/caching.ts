import type { RouteConfig } from '../../config.ts';
import { foldHeaderName, type HeaderNames } from '../../domain/header-names.ts';
import { HeaderNameMemo } from './header-rules.ts';

/** What a route's responses tell caches (RFC 9111), so that no cache gives a response to anybody else. */
export interface Caching {
  /** Value of `Vary`: the request headers by which the gateway chooses the response; empty if there are none. */
  readonly vary: string;
  /** Whether caches that clients share must not keep responses. */
  readonly isPrivate: boolean;
}

/** Returns what a route's responses tell caches. An open route serves all clients alike. */
export function cachingOf(
  { open, cors, sharedCache }: Pick<RouteConfig, 'open' | 'cors' | 'sharedCache'>,
  names: Pick<HeaderNames, 'acting' | 'apiKey'>,
): Caching {
  const chosenBy = open === null ? [names.acting, 'Authorization', ...names.apiKey] : [];
  if (cors !== null) chosenBy.push('Origin');
  return { vary: chosenBy.join(', '), isPrivate: open === null && sharedCache === 'deny' };
}

/**
 * Creates the function that adds `Vary` and `Cache-Control` to a response's headers. It gets what the upstream said,
 * with a comma before each value, and remembers the results: upstreams say the same again and again.
 */
export function cachingHeaders({ vary, isPrivate }: Caching) {
  const varies = new HeaderNameMemo((said) => withoutRepeats(vary + said));
  const controls = new HeaderNameMemo(privately);
  return (headers: string[], said: { readonly vary: string; readonly 'cache-control': string }): void => {
    if (vary !== '') headers.push('vary', varies.learn(said.vary));
    if (isPrivate) headers.push('cache-control', controls.learn(said['cache-control']));
  };
}

/** Drops repeated names from `Vary`. `*` stands for all names (RFC 9110 §12.5.5). */
function withoutRepeats(vary: string): string {
  const names = new Map(vary.split(',').map((name) => [name.trim().toLowerCase(), name.trim()]));
  names.delete('');
  return names.has('*') ? '*' : [...names.values()].join(', ');
}

/** Changes `Cache-Control` so that no shared cache keeps the response (RFC 9111 §5.2.2.7). */
function privately(control: string): string {
  const all = (control.match(directives) ?? []).map((directive) => directive.trim());
  const kept = all.filter((directive) => directive !== '' && !forSharedCaches.test(directive));
  if (!kept.some((directive) => forNoSharedCache.test(directive))) kept.unshift('private');
  return kept.join(', ');
}

/** A comma in quotes separates no directives. A quote that never ends takes everything behind it. */
const directives = /(?:[^",]+|"(?:[^"\\]|\\[^])*(?:"|\\?$))+/g;
const forSharedCaches = /^(?:public|s-maxage)[\t ]*(?:=|$)/i;
const forNoSharedCache = /^(?:private|no-store)$/i;

/** Whether a response header is for shared caches alone, in any spelling that one of them may read. */
export function speaksToSharedCaches(rawName: string): boolean {
  const name = foldHeaderName(rawName);
  if (name === 'cache-control') return rawName.toLowerCase() !== name;
  return /-cache-control$|^(?:surrogate|edge)-control$|^x-accel-expires$/.test(name);
}
