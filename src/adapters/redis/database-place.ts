import { createHash } from 'node:crypto';

const usualPort = '5432';

/**
 * Hash of a database's host, port and name. It tells apart databases whose caches share a Redis: a copy of a data
 * directory has the same history as the original, but its positions mean something else.
 *
 * @param url URL of the database; only host, port and name are used. `null` for the embedded store
 */
export function databasePlace(url: string | null): string {
  const { hostname, port, pathname, searchParams } = new URL(url ?? 'embedded://store/');
  const host = searchParams.get('host') ?? hostname;
  const place = `${host.toLowerCase()}:${port || usualPort}${pathname}`;
  return createHash('sha256').update(place).digest('base64url').slice(0, 10);
}
