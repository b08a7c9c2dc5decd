import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import type { ReceivedHead } from '../ports/request-record.ts';
import { headerValues } from '../domain/header-names.ts';

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
  const isListed = addressList(cidrs);
  // A peer does not change during a connection, and a check costs more than everything else an id needs.
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
 * Whether an address is in one of the networks; what is no address is in none.
 *
 * @throws RangeError where one of `cidrs` is neither an address nor a CIDR
 */
function addressList(cidrs: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) addCidr(list, cidr);
  return (address) => isListed(list, address);
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

const idBytes = 16;
const poolBytes = idBytes * 256;
/** What trusted proxies send: UUIDs, trace ids, `Root=1-…`. Nothing that could break a log line, a header or a quote. */
const acceptable = /^[A-Za-z0-9_.:=+/-]{1,128}$/;

/**
 * Makes the id of each request: 32 hex digits, the form of a W3C trace id. An `X-Request-Id` that the client sent
 * counts only where the peer is one of our own proxies, it is sent once, and it is short and plain.
 *
 * @param randomBytes cryptographic, since ids appear in responses and must not tell how busy the process is
 * @returns a function for Fastify's `genReqId`
 */
export function requestIds(
  randomBytes: (size: number) => Uint8Array,
  isTrusted: TrustedPeers,
): (request: IncomingMessage) => string {
  const fresh = freshIds(randomBytes);
  return (request) => (isTrusted(request.socket) ? acceptedId(request.rawHeaders) : undefined) ?? fresh();
}

function acceptedId(rawHeaders: readonly string[]): string | undefined {
  const values = headerValues(rawHeaders, 'x-request-id');
  const value = values[0];
  return values.length === 1 && value !== undefined && acceptable.test(value) ? value : undefined;
}

/** Asking the source for many ids' worth at a time is ten times as fast as asking for each. */
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
