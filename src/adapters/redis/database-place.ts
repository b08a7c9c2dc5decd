import { createHash } from 'node:crypto';

const usualPort = '5432';

/**
 * Returns a hash of a database's host, port and name, so that gateways with different databases can share a Redis
 * without reading each other's facts. The name of the history (incarnation) is not enough: the copy of a data directory
 * has the same history as the original, and from then on both databases give the same positions to different changes.
 *
 * @param url URL of the database, of which only host, port and name are used; `null` for the embedded store
 */
export function databasePlace(url: string | null): string {
  const { hostname, port, pathname, searchParams } = new URL(url ?? 'embedded://store/');
  const host = searchParams.get('host') ?? hostname;
  const place = `${host.toLowerCase()}:${port || usualPort}${pathname}`;
  return createHash('sha256').update(place).digest('base64url').slice(0, 10);
}
