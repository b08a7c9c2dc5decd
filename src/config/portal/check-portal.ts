import type { UncheckedFile } from '../gateway-file.ts';
import type { SchemaFault } from '../validate.ts';

/**
 * Finds a portal without an address.
 *
 * @param urlNamed whether the document names an address, valid or not
 */
export function checkPortal({ portal }: UncheckedFile, urlNamed: boolean): SchemaFault[] {
  if (portal.port === undefined || urlNamed) return [];
  const detail = 'is missing: the portal needs the address at which browsers find it (PORTAL_URL)';
  return [{ path: ['portal', 'url'], detail }];
}
