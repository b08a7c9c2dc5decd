import { createHash } from 'node:crypto';

const usualPort = '5432';

/**
 * Tells the database behind a cache from others that use the same Redis: a hash of its host, port and name. A copy of a data
 * directory has the same history as the original, and positions that mean something else.
 *
 * @param url of the database; its user, password and options count for nothing. `null` for the embedded store
 */
export function databasePlace(url: string | null): string {
  const { hostname, port, pathname, searchParams } = new URL(url ?? 'embedded://store/');
  const host = searchParams.get('host') ?? hostname;
  const place = `${host.toLowerCase()}:${port || usualPort}${pathname}`;
  return createHash('sha256').update(place).digest('base64url').slice(0, 10);
}
