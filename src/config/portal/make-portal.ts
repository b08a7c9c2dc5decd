import type { PortalConfig } from '../../config.ts';
import type { GatewayFile } from '../gateway-file.ts';
import type { Named } from '../named.ts';

/** Makes the typed configuration of the portal from its section. Returns `null` if there is no portal. */
export function makePortal(
  { logoFile: _, ...portal }: Named<GatewayFile['portal']>,
  logo: PortalConfig['logo'],
): PortalConfig | null {
  const { port, url } = portal;
  if (port === null || url === null) return null;
  const address = new URL(url).href;
  return {
    ...{ ...portal, port, logo },
    url: address.endsWith('/') ? address : `${address}/`,
    accent: portal.accent?.toLowerCase() ?? null,
    // Normalised, an origin ends with a slash. Otherwise `https://a.example` would also admit `https://a.example.org/`.
    returnUrls: portal.returnUrls.map((start) => new URL(start).href),
  };
}
