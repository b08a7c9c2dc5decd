import { BlockList, isIP } from 'node:net';
import type { ReceivedHead } from '../ports/request-record.ts';
import { headerValues } from '../domain/header-names.ts';
import { copyOf } from './copy-of.ts';

/**
 * Whether the peer of a connection is a trusted proxy. The gateway believes what a trusted proxy's headers say about a
 * request.
 */
export type TrustedPeers = (socket: ReceivedHead['socket']) => boolean;

/**
 * Returns a function that checks whether a peer is in `trusted_proxies`. It checks only the address of the TCP peer,
 * because that peer writes the headers about the origin of a request. If the list is empty, no peer is trusted.
 *
 * @param cidrs networks such as `10.0.0.0/8` or `fd00::/8`, or single addresses
 * @throws RangeError if an element of `cidrs` is neither
 */
export function trustedPeers(cidrs: readonly string[]): TrustedPeers {
  if (cidrs.length === 0) return () => false;
  const isListed = addressList(cidrs);
  // The peer of a connection never changes, so the result is kept. A check for each request would be slow.
  const known = new WeakMap<object, boolean>();
  return (socket) => {
    let trusted = known.get(socket);
    if (trusted === undefined) {
      trusted = isListed(socket.remoteAddress);
      known.set(socket, trusted);
    }
    return trusted;
  };
}

/**
 * Returns a function that checks whether an address is in one of the networks. Text that isn't an address matches none.
 * BlockList matches IPv4-mapped IPv6 addresses, which dual-stack listeners report, against the IPv4 subnets.
 *
 * @throws RangeError if an element of `cidrs` is neither an address nor a CIDR
 */
function addressList(cidrs: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) addCidr(list, cidr);
  return (address) => {
    // BlockList does not understand scoped link-local addresses (fe80::1%eth0).
    const [bare = ''] = address?.split('%', 1) ?? [];
    const version = isIP(bare);
    return version !== 0 && list.check(bare, version === 4 ? 'ipv4' : 'ipv6');
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

/** Returns the address of a request's client; `undefined` if the connection has closed. */
export type ClientAddress = (request: ReceivedHead) => string | undefined;

/**
 * Returns a function that determines a client's address. Without trusted proxies this is the address of the TCP peer.
 * Behind trusted proxies it is the last address in `X-Forwarded-For` that is not a trusted proxy. A client can forge
 * only entries to the left of its address. IPv4-mapped IPv6 addresses are shown as IPv4.
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
      const before = asShown(withoutPort(copyOf(hop.trim())));
      // If an entry isn't an address, everything to its left may be forged.
      if (before === undefined || isIP(before) === 0) break;
      address = before;
      if (!isTrusted(address)) break;
    }
    return address;
  };
}

/**
 * Returns the network of a client: the whole address for IPv4, the first 64 bits for IPv6 (RFC 4291 §2.5.1), because a
 * client can use any address that begins with those bits. Returns an empty string if the address is unknown.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined || isIP(address) !== 6) return address ?? '';
  const [head = '', tail] = address.split('::');
  const first = head.split(':').filter((group) => group !== '');
  const last = (tail ?? '').split(':').filter((group) => group !== '');
  const zeros = tail === undefined ? 0 : Math.max(0, groupsOfIpv6 - first.length - last.length);
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, groupsOfIpv6 / 2).join(':');
}

/** Number of 16-bit groups in an IPv6 address. */
const groupsOfIpv6 = 8;

const mappedPrefix = '::ffff:';

/** Returns an address as clients know it: IPv4-mapped IPv6 addresses, which dual-stack listeners report, as IPv4. */
export function asShown(address: string | undefined): string | undefined {
  if (!address?.startsWith(mappedPrefix)) return address;
  const mapped = address.slice(mappedPrefix.length);
  return isIP(mapped) === 4 ? mapped : address;
}

/** Removes the port that some load balancers add, as in `192.0.2.1:4711` and `[2001:db8::1]:4711`, and any brackets. */
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop)?.[1];
  return bracketed ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop;
}

const idBytes = 16;
const poolBytes = idBytes * 256;
/**
 * Matches an incoming request id that is accepted, such as a UUID, a trace id or `Root=1-…`. None of its characters can
 * break out of a log line, a header or a quoted string.
 */
const acceptable = /^[A-Za-z0-9_.:=+/-]{1,128}$/;

/**
 * Returns the function that gives each request its id: 32 hex digits, the format of a W3C trace id. An incoming
 * `X-Request-Id` is used only if a trusted proxy sent it, the header occurs once, and it has at most 128 safe
 * characters.
 *
 * @param randomBytes must be cryptographically secure: clients see ids, and predictable ids would reveal how busy the
 * process is
 * @returns a function for Fastify's `genReqId`
 */
export function requestIds(
  randomBytes: (size: number) => Uint8Array,
  isTrusted: TrustedPeers,
): (request: ReceivedHead) => string {
  const fresh = freshIds(randomBytes);
  return (request) => (isTrusted(request.socket) ? acceptedId(request.rawHeaders) : undefined) ?? fresh();
}

function acceptedId(rawHeaders: readonly string[]): string | undefined {
  const values = headerValues(rawHeaders, 'x-request-id');
  const value = values[0];
  return values.length === 1 && value !== undefined && acceptable.test(value) ? value : undefined;
}

/** Makes request ids from a pool of random bytes, ten times as fast as calling `randomBytes` for each id. */
function freshIds(randomBytes: (size: number) => Uint8Array): () => string {
  let pool: Buffer = Buffer.alloc(0);
  let next = 0;
  return () => {
    if (next === pool.length) {
      const bytes = randomBytes(poolBytes);
      pool = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      next = 0;
    }
    next += idBytes;
    return pool.toString('hex', next - idBytes, next);
  };
}
