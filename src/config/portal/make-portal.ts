import type { PortalConfig } from '../../config.ts';
import type { GatewayFile } from '../gateway-file.ts';

/** Makes the typed configuration of the portal from its section. Returns `null` if there is no portal. */
export function makePortal(file: GatewayFile['portal'], logo: PortalConfig['logo']): PortalConfig | null {
  const { port, url } = file;
  if (port === undefined || url === undefined) return null;
  const address = new URL(url).href;
  return {
    host: file.host,
    port,
    url: address.endsWith('/') ? address : `${address}/`,
    name: file.name,
    logo,
    accent: file.accent?.toLowerCase() ?? null,
    links: file.links,
    frameAncestors: file.frame_ancestors,
    // Normalised, an origin ends with a slash. Otherwise `https://a.example` would also admit `https://a.example.org/`.
    returnUrls: file.return_urls.map((start) => new URL(start).href),
    sessionMs: file.session_s * 1000,
  };
}
