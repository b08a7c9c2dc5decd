import type { Permit } from '../../domain/acting-decision.ts';
import type { Caller } from '../../domain/caller.ts';
import type { HeaderNames } from '../../domain/header-names.ts';
import { asShown } from '../../http/trusted-proxies.ts';
import { namedByConnection, withoutNamed, type HeaderRules } from './header-rules.ts';

/** Data about a request that its headers do not contain. */
export interface OutboundContext {
  readonly requestId: string;
  /** Caller and permit to pass to the upstream; `null` for a request without a key. */
  readonly identity: { readonly caller: Caller; readonly permit: Permit } | null;
  /** Address of the TCP peer, if it has one. */
  readonly peer: string | undefined;
  /**
   * Whether the peer is a trusted proxy (`trusted_proxies`). If so, the peer's headers about the client are passed on.
   */
  readonly peerTrusted: boolean;
  /** Whether the request came over TLS. */
  readonly encrypted: boolean;
}

/** A route's header settings. */
export interface OutboundRoute {
  readonly host: 'preserve' | 'upstream';
  readonly passAuthorization: boolean;
  /** Header names containing `_` that are passed on, in lower case. */
  readonly underscoreHeaders: readonly string[];
  /** Names of other gateways' identity headers that are passed on, in lower case. */
  readonly passHeaders: readonly string[];
}

/** Turns a request's raw headers into those for its upstream. Both are flat lists of names and values. */
export type OutboundHeaders = (
  rawHeaders: readonly string[],
  context: OutboundContext,
  route: OutboundRoute,
) => string[];

/**
 * Creates the function that writes the headers of every request to an upstream, whether a plain request or an upgrade.
 *
 * Identity headers from the client are dropped in every spelling. The gateway's own are appended last, after the
 * headers named in `Connection` have been removed. So a client cannot remove the gateway's identity headers by naming
 * them in `Connection`.
 */
export function outboundHeaders(rules: HeaderRules, names: HeaderNames): OutboundHeaders {
  const own = lowerCased(names);
  return (rawHeaders, context, route) => {
    const out: string[] = [];
    let named: Set<string> | undefined;
    let host = '';
    let length = '';
    // Anyone can send a request without a key. So its header names are not cached.
    const known = context.identity !== null;
    const said: ForwardedWords = { for: '', host: '', proto: '' };

    for (let i = 0; i < rawHeaders.length; i += 2) {
      const value = rawHeaders[i + 1] as string;
      const name = rawHeaders[i] as string;
      switch (known ? rules.learn(name) : rules.look(name)) {
        case 'pass':
          out.push(name, value);
          break;
        case 'content-length':
          length = value;
          break;
        case 'host':
          host = value;
          break;
        case 'connection':
          named = namedByConnection(value, named);
          break;
        case 'authorization':
          if (route.passAuthorization) out.push(name, value);
          break;
        case 'underscore':
          if (route.underscoreHeaders.includes(name.toLowerCase())) out.push(name, value);
          break;
        case 'identity':
          if (context.peerTrusted || route.passHeaders.includes(name.toLowerCase())) out.push(name, value);
          break;
        case 'forwarding':
          // The gateway has already read the request id, and appends it itself.
          if (context.peerTrusted && name.toLowerCase() !== 'x-request-id') out.push(name, value);
          break;
        case 'forwarded-for':
          if (context.peerTrusted) said.for = said.for === '' ? value : `${said.for}, ${value}`;
          break;
        case 'forwarded-host':
          if (context.peerTrusted) said.host = value;
          break;
        case 'forwarded-proto':
          if (context.peerTrusted) said.proto = value;
          break;
        default:
      }
    }

    const headers = named === undefined ? out : withoutNamed(out, named);
    // `Connection: content-length` must not remove this header, or the upstream would take the body for another
    // request.
    if (length !== '') headers.push('content-length', length);
    if (host !== '' && route.host === 'preserve') headers.push('host', host);
    pushForwarded(headers, context, said, host);
    pushTrusted(headers, own, context);
    return headers;
  };
}

/** Returns the names of the gateway's own headers in lower case. Called once, rather than for each request. */
function lowerCased(names: HeaderNames) {
  return {
    resolvedTenant: names.resolvedTenant.toLowerCase(),
    resolvedExternalId: names.resolvedExternalId.toLowerCase(),
    parentTenant: names.parentTenant.toLowerCase(),
    parentExternalId: names.parentExternalId.toLowerCase(),
    callerTenant: names.callerTenant.toLowerCase(),
    callerKey: names.callerKey.toLowerCase(),
    callerScopes: names.callerScopes.toLowerCase(),
  };
}

/** Values of the headers in which a trusted proxy describes the client, such as `X-Forwarded-For`. */
interface ForwardedWords {
  for: string;
  host: string;
  proto: string;
}

function pushForwarded(
  headers: string[],
  context: OutboundContext,
  said: ForwardedWords,
  host: string,
): void {
  const peer = asShown(context.peer);
  const chain = said.for === '' ? peer : peer === undefined ? said.for : `${said.for}, ${peer}`;
  if (chain !== undefined) headers.push('x-forwarded-for', chain);
  headers.push('x-forwarded-proto', said.proto || (context.encrypted ? 'https' : 'http'));
  const originalHost = said.host || host;
  if (originalHost !== '') headers.push('x-forwarded-host', originalHost);
}

type OwnNames = Omit<HeaderNames, 'prefix' | 'acting' | 'enforced' | 'apiKey'>;

function pushTrusted(headers: string[], names: OwnNames, { requestId, identity }: OutboundContext): void {
  headers.push('x-request-id', requestId);
  if (identity === null) return;
  const { caller, permit } = identity;
  headers.push(names.resolvedTenant, permit.resolvedTenant);
  if (permit.resolvedExternalId !== null) headers.push(names.resolvedExternalId, permit.resolvedExternalId);
  headers.push(names.parentTenant, permit.parentTenant);
  if (permit.parentExternalId !== null) headers.push(names.parentExternalId, permit.parentExternalId);
  headers.push(names.callerTenant, caller.accountId);
  headers.push(names.callerKey, caller.keyId);
  headers.push(names.callerScopes, caller.scopes.join(' '));
}
