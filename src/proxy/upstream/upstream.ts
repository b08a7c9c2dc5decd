import { readFileSync } from 'node:fs';
import { isIP, type Socket } from 'node:net';
import type { LimitsConfig, RouteConfig } from '../../config.ts';
import type { TenantConcurrency } from '../../limits/concurrency.ts';
import type { Clock } from '../../ports/clock.ts';
import type { UsageSink } from '../../ports/usage.ts';
import type { FailureLog } from '../failure-log.ts';
import { connector, type Address, type UpstreamTls, openConnection } from './connect.ts';
import { Pool } from './pool.ts';
import { ResponseFault } from './errors.ts';
import type { HandOvers } from './hand-overs.ts';
import type { HttpVersion } from './message-head.ts';
import type { UpstreamClient } from './upstream-client.ts';
import { WebSocketPlaces } from './web-socket-places.ts';

/** Upstream of one route: its address, and the client that sends requests there. */
export interface Upstream extends Address, UpstreamClient {
  /**
   * HTTP version of its latest response; `null` before the first. A request is sent in chunks only to an upstream that
   * is known to accept HTTP/1.1 (RFC 9112 §6.1).
   */
  version: HttpVersion | null;
  /** Places for WebSockets, each with a connection of its own. */
  readonly webSockets: WebSocketPlaces;
}

/**
 * Notes the HTTP version of an upstream's response.
 *
 * @param inChunks whether the request was sent in chunks
 * @returns a fault if the upstream did not see the body
 */
export function noteVersion(
  upstream: Pick<Upstream, 'version'>,
  version: HttpVersion | null,
  status: number,
  inChunks: boolean,
): ResponseFault | undefined {
  if (version === null) return undefined;
  // Another proxy in front of an HTTP/1.1 upstream may reject requests in HTTP/1.0.
  if (version === '1.1' || status < 400 || upstream.version === null) upstream.version = version;
  return inChunks && version === '1.0' && status < 400
    ? new ResponseFault('HTTP/1.0, for a request in chunks')
    : undefined;
}

/** Dependencies of an upstream's connections besides its route. */
export interface UpstreamDeps {
  readonly clock: Clock;
  readonly concurrency: TenantConcurrency;
  readonly limits: Pick<LimitsConfig, 'maxConnections'>;
  /** Batch that counts and sends requests at the end of each tick. */
  readonly handOvers: HandOvers;
  readonly usage: Pick<UsageSink, 'commit'>;
  readonly failures: Pick<FailureLog, 'writeException'>;
}

/**
 * Opens a route's way to its upstream. Nothing is pipelined. A failure on a connection is reported and not repeated,
 * except in one case: an upstream may close an idle connection just as a request is written to it. A safe request
 * without a body is then sent once more on another connection, and any other request gets 502. To make this rare, idle
 * connections are closed early (after 4 s, or 2 s before the time that the upstream states in `Keep-Alive`).
 *
 * @throws Error if a certificate or key file cannot be read
 */
export async function openUpstream(route: RouteConfig, deps: UpstreamDeps): Promise<Upstream> {
  const socketPath = route.upstream.startsWith('unix:') ? new URL(route.upstream).pathname : null;
  const origin = new URL(socketPath === null ? route.upstream : 'http://localhost');
  const address = { origin, socketPath, tls: tlsOf(route.tls, origin.hostname) };
  const shares = deps.concurrency.sharesOf(route);
  const { connectMs } = route.timeouts;
  const report = (error: unknown): void =>
    deps.failures.writeException(error, { route: route.prefix, requestId: null, code: null });
  const most = route.connections;
  const options = { most, shares: shares.connections, connectMs, clock: deps.clock };
  const places = new WebSocketPlaces(shares.webSockets, route.webSockets ?? deps.limits.maxConnections);
  const upstream = { ...address, version: null, webSockets: places };
  if (route.client === 'undici') {
    // The import is dynamic, because most configurations do not need it.
    const { openForwarder } = await import('../undici/forwarder.ts');
    return { ...upstream, ...(await openForwarder(address, options, { usage: deps.usage, report })) };
  }
  const connections = new Pool({
    ...options,
    report,
    connect: connector(address, connectMs, { handOvers: deps.handOvers, report }),
  });
  return {
    ...upstream,
    send: connections.send.bind(connections),
    close: connections.close.bind(connections),
  };
}

function tlsOf(tls: RouteConfig['tls'], hostname: string): UpstreamTls {
  const address = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return {
    rejectUnauthorized: true,
    servername: tls.serverName ?? (address ? '' : hostname),
    ...(tls.caFile === null ? {} : { ca: readFileSync(tls.caFile) }),
    ...(tls.certFile === null ? {} : { cert: readFileSync(tls.certFile) }),
    ...(tls.keyFile === null ? {} : { key: readFileSync(tls.keyFile) }),
  };
}

/**
 * Opens a separate connection to an upstream, verified like all others. Its two directions can end separately.
 *
 * @param ready called when the connection may be written to; an earlier failure is an `error` of the socket
 */
export function connectTo(upstream: Upstream, ready: () => void): Socket {
  const connecting = openConnection(upstream, { allowHalfOpen: true });
  return connecting.socket.once(connecting.ready, ready);
}
