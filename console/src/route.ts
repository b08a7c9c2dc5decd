import { useEffect, useState } from 'preact/hooks';

/** Place in the console: the part of the page's address after `#`. It never contains a secret. */
export interface Route {
  /** Parts of the path, decoded. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the address of a place. Empty parameters are left out. */
export function linkTo(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** Goes to a place. @param keepsHistory whether the back button comes back here */
export function goTo(link: string, keepsHistory = true): void {
  if (keepsHistory) location.hash = link;
  else location.replace(link);
}

/** The current place, as it changes. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return routeOf(hash);
}
