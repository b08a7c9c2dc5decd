/**
 * For whom a request is, as the gateway says it. Copy this file beside that of your framework: fastify.ts, express.ts or hono.ts.
 *
 * The headers are worth what the network is worth: this rejects what does not come from the gateway's addresses. Where those are
 * not enough to tell (README.md), have your server ask for the gateway's client certificate.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';

/** What the gateway says of a request. */
export interface Tenant {
  /** UUID of the account that the request operates on: every query is about its rows. */
  readonly id: string;
  readonly externalId: string | null;
  /** UUID of its parent, or its own where it is one. */
  readonly parentId: string;
  readonly parentExternalId: string | null;
  /** UUID of the account whose key was used, for audits: a parent that acts as a sub-account is not the tenant. */
  readonly callerId: string;
  readonly keyId: string;
  readonly scopes: readonly string[];
  /** Names the request in the gateway's log. */
  readonly requestId: string;
}

export interface TenantOptions {
  /** Addresses and networks of the gateway; the loopback ones unless said. */
  readonly gateways?: readonly string[];
  /** `headers.prefix` of the gateway. */
  readonly prefix?: string;
  /**
   * Whole paths, such as `/healthz`, that may be requested from anywhere: their handlers have no tenant. Each is compared with
   * the path as it was sent; a path that is spelled in another way is not exempt.
   */
  readonly exempt?: readonly string[];
}

/** The request is none that the gateway has passed on: answer it with {@link rejection}. */
export class NotFromGateway extends Error {
  override readonly name = 'NotFromGateway';
}

/** The status, media type and body (RFC 9457) for a request that the gateway has not passed on. */
export function rejection({ message }: NotFromGateway) {
  const body = JSON.stringify({ type: 'about:blank', title: 'Forbidden', status: 403, detail: message });
  return { status: 403, type: 'application/problem+json', body } as const;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Makes the function that reads a request's tenant. It throws {@link NotFromGateway}. */
export function tenantReader({
  gateways = ['127.0.0.0/8', '::1'],
  prefix = 'X-Service-',
}: TenantOptions = {}): (request: IncomingMessage) => Tenant {
  const known = new BlockList();
  for (const gateway of gateways) {
    const [address = '', bits] = gateway.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) known.addAddress(address, family);
    else known.addSubnet(address, Number(bits), family);
  }
  const lower = prefix.toLowerCase();

  return (request) => {
    const { remoteAddress = '' } = request.socket;
    if (!known.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4'))
      throw new NotFromGateway('This request did not come through the gateway.');
    const optional = (name: string): string | null => {
      const values = request.headersDistinct[name] ?? [];
      if (values.length > 1) throw new NotFromGateway(`There is more than one ${name}.`);
      return values[0] ?? null;
    };
    const required = (name: string, form: RegExp): string => {
      const value = optional(name);
      if (value === null || !form.test(value)) throw new NotFromGateway(`There is no valid ${name}.`);
      return value;
    };
    return {
      id: required(`${lower}resolved-tenant`, uuid),
      externalId: optional(`${lower}resolved-external-id`),
      parentId: required(`${lower}parent-tenant`, uuid),
      parentExternalId: optional(`${lower}parent-external-id`),
      callerId: required(`${lower}caller-tenant`, uuid),
      keyId: required(`${lower}caller-key`, uuid),
      scopes: required(`${lower}caller-scopes`, /^/).split(' ').filter(Boolean),
      requestId: required('x-request-id', /./),
    };
  };
}

/**
 * Makes the function that says whether a request needs no tenant. `routed` is the path by which the framework chooses the handler.
 * An exempt request loses the headers that only the gateway may set, because anybody can have sent it.
 */
export function exemption({ exempt = [], prefix }: TenantOptions = {}): (
  request: IncomingMessage,
  routed: string,
) => boolean {
  const [paths, isReserved] = [new Set(exempt), reservedNames(prefix)];
  return (request, routed) => {
    if (!paths.has(routed)) return false;
    for (const headers of [request.headers, request.headersDistinct])
      for (const name of Object.keys(headers).filter(isReserved)) delete headers[name];
    const raw = request.rawHeaders;
    request.rawHeaders = raw.filter((_, index) => !isReserved(raw[index - (index % 2)] ?? ''));
    return true;
  };
}

/** Makes the function that says whether some program could take a header's name for one that only the gateway may set. */
export function reservedNames(prefix = 'X-Service-'): (name: string) => boolean {
  const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '-');
  return (name) => plain(name).startsWith(plain(prefix)) || plain(name) === 'x-request-id';
}

/** The path of a request target, as it was sent: everything before its query. */
export function pathOf(target = ''): string {
  return target.split('?', 1)[0] ?? '';
}
