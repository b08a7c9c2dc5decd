import { BlockList, isIP, type Socket } from 'node:net';

/** Whether the other end of a connection is one of our own proxies, whose word on the request counts. */
export type TrustedPeers = (socket: Pick<Socket, 'remoteAddress'>) => boolean;

/**
 * Reads `trusted_proxies`. Only the address of the TCP peer is checked: what a header says about where a request
 * comes from was written by the very peer that may not be trusted. Without addresses no peer is trusted.
 *
 * @param cidrs such as `10.0.0.0/8`, `fd00::/8` or a single address
 * @throws RangeError where one of them is neither
 */
export function trustedPeers(cidrs: readonly string[]): TrustedPeers {
  if (cidrs.length === 0) return () => false;
  const list = new BlockList();
  for (const cidr of cidrs) addCidr(list, cidr);
  // A peer does not change during a connection, and a check costs more than everything else an id needs.
  const known = new WeakMap<object, boolean>();
  return (socket) => {
    let trusted = known.get(socket);
    if (trusted === undefined) {
      trusted = isListed(list, socket.remoteAddress);
      known.set(socket, trusted);
    }
    return trusted;
  };
}

function addCidr(list: BlockList, cidr: string): void {
  const [address = '', length, ...rest] = cidr.split('/');
  const version = isIP(address);
  const bits = version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (version === 0 || rest.length > 0 || prefix < 0 || prefix > bits) {
    throw new RangeError(`${cidr} is not an address or a CIDR`);
  }
  list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
}

/** BlockList compares an IPv4-mapped IPv6 address, as a dual-stack listener reports it, with the IPv4 subnets. */
function isListed(list: BlockList, address: string | undefined): boolean {
  if (address === undefined) return false;
  // A scoped link-local address (fe80::1%eth0) is not of the form BlockList reads.
  const bare = address.replace(/%.*$/, '');
  const version = isIP(bare);
  return version !== 0 && list.check(bare, version === 4 ? 'ipv4' : 'ipv6');
}
