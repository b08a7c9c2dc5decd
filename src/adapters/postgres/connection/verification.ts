import { readFileSync } from 'node:fs';
import { checkServerIdentity, type ConnectionOptions } from 'node:tls';

/**
 * Returns the TLS options for `sslmode=verify-…`. On its own, postgres.js does not read certificate files, and verifies
 * a server with an IP address as if its name were `localhost`.
 *
 * @param address the URL without its query
 * @param parameters query parameters; those that concern TLS are removed
 * @throws Error if the `sslrootcert` file cannot be read
 */
export function verification(
  address: string,
  parameters: URLSearchParams,
): { readonly ssl?: ConnectionOptions } {
  const caFile = parameters.get('sslrootcert');
  if (caFile === null && parameters.get('sslmode')?.startsWith('verify-') !== true) return {};
  parameters.delete('sslmode');
  parameters.delete('sslrootcert');
  const hosts = hostsOf(address);
  return {
    ssl: {
      rejectUnauthorized: true,
      ...(caFile !== null && caFile !== 'system' && { ca: readFileSync(caFile, 'utf8') }),
      checkServerIdentity: (_, certificate) => {
        const faults = hosts.map((host) => checkServerIdentity(host, certificate));
        return faults.includes(undefined) ? undefined : faults[0];
      },
    },
  };
}

function hostsOf(address: string): readonly string[] {
  const authority = address.replace(/^[a-z]+:\/\//, '').split('/', 1)[0] ?? '';
  const list = authority.slice(authority.lastIndexOf('@') + 1);
  return list.split(',').map((host) => host.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
}
