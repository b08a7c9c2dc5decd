import { isIP } from 'node:net';
import type { ReceivedHead } from '../ports/request-record.ts';
import { headerValues } from './raw-headers.ts';
import { addressList } from './trusted-peers.ts';

/** The address a request came from; `undefined` where the connection was gone before it was asked for. */
export type ClientAddress = (request: ReceivedHead) => string | undefined;

/**
 * Reads where a request came from: the TCP peer; where that is a trusted proxy, the last address in `X-Forwarded-For`
 * that is none. A client can write what it likes into that header, but only to the left of what the first trusted proxy
 * added. An IPv4 address that a dual-stack listener reports as IPv6 is shown as IPv4.
 *
 * @param trustedProxies addresses and networks (`trusted_proxies`)
 */
export function clientAddresses(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = addressList(trustedProxies);
  return ({ rawHeaders, socket }) => {
    let address = asShown(socket.remoteAddress);
    if (trustedProxies.length === 0 || !isTrusted(address)) return address;
    const hops = headerValues(rawHeaders, 'x-forwarded-for').join(',').split(',');
    for (const hop of hops.reverse()) {
      const before = asShown(withoutPort(hop.trim()));
      // A word that is no address: what stands to its left cannot be told from what a client made up.
      if (before === undefined || isIP(before) === 0) break;
      address = before;
      if (!isTrusted(address)) break;
    }
    return address;
  };
}

/**
 * What of a client's address says who it belongs to: an IPv4 address whole, of an IPv6 address the first 64 bits (RFC 4291
 * §2.5.1), since one client has all the addresses behind them.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined || isIP(address) !== 6) return address ?? '';
  const [head = '', tail] = address.split('::');
  const first = head.split(':').filter((group) => group !== '');
  const last = (tail ?? '').split(':').filter((group) => group !== '');
  const zeros = tail === undefined ? 0 : Math.max(0, groupsOfIpv6 - first.length - last.length);
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, groupsOfIpv6 / 2).join(':');
}

/** Of 16 bits. */
const groupsOfIpv6 = 8;

const mappedPrefix = '::ffff:';

function asShown(address: string | undefined): string | undefined {
  if (!address?.startsWith(mappedPrefix)) return address;
  const mapped = address.slice(mappedPrefix.length);
  return isIP(mapped) === 4 ? mapped : address;
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some balancers write them. */
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop)?.[1];
  return bracketed ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop;
}
