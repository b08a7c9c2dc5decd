import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { LimitsConfig, RouteConfig } from '../../config.ts';
import type { TenantConcurrency } from '../../limits/concurrency.ts';
import type { Shares } from '../../limits/shares.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AllTimers } from '../../ports/timers.ts';
import type { UsageSink } from '../../ports/usage.ts';
import type { FailureLog } from '../failure-log.ts';
import { connector, type Address, type UpstreamTls } from './connect.ts';
import { Pool } from './pool.ts';
import { MessageFault } from '../../http1/message-fault.ts';
import type { HandOvers } from './hand-overs.ts';
import type { HttpVersion } from '../../http1/version.ts';
import type { ReadBuffers } from './read-buffers.ts';
import type { UpstreamClient } from './upstream-client.ts';

/** Upstream of one route: its address, and the client that sends requests to it. */
export interface Upstream extends Address, UpstreamClient {
  /**
   * HTTP version of the upstream's latest response; `null` before the first one. An HTTP/1.0 upstream gets no chunked
   * requests (RFC 9112 §6.1). While the version is unknown, a body without a stated length is held at first, and is
   * sent in chunks if it proves too long or too slow.
   */
  version: HttpVersion | null;
  /** Shares of the route's WebSockets, common to all generations of the configuration. */
  readonly webSockets: Shares;
  /** Maximum number of open WebSockets. */
  readonly mostWebSockets: number;
}

/**
 * Records the HTTP version of an upstream's response.
 *
 * @param version the response's version; `null` if unknown
 * @param inChunks whether the request was sent in chunks
 * @returns a fault if the upstream accepts only HTTP/1.0 and so did not see the body
 */
export function noteVersion(
  upstream: Pick<Upstream, 'version'>,
  version: HttpVersion | null,
  status: number,
  inChunks: boolean,
): MessageFault | undefined {
  if (version === null) return undefined;
  // An HTTP/1.0 error response may come from another proxy in front of an HTTP/1.1 upstream, so it does not change a
  // known version.
  if (version === '1.1' || status < 400 || upstream.version === null) upstream.version = version;
  return inChunks && version === '1.0' && status < 400
    ? new MessageFault('HTTP/1.0, for a request in chunks')
    : undefined;
}

/** Dependencies of upstreams' connections, in addition to their routes. */
export interface UpstreamDeps {
  readonly clock: Clock;
  readonly timers: AllTimers;
  /** Counts each tenant's requests in flight and connections, and limits them. */
  readonly concurrency: TenantConcurrency;
  readonly limits: LimitsConfig;
  readonly lookup: Address['lookup'];
  /** Buffers that the connections to all upstreams read into. */
  readonly readBuffers: ReadBuffers;
  /** Counts and sends each tick's requests together, at the end of the tick. */
  readonly handOvers: HandOvers;
  readonly usage: UsageSink;
  readonly failures: FailureLog;
}

/**
 * Opens the client that sends a route's requests to its upstream. Requests are not pipelined. If a connection fails,
 * its request fails too and is not retried, with one exception. An upstream may close an idle connection just as a
 * request is written to it. A safe request without a body is then sent once more on another connection, and any other
 * request gets a 502. To make this rare, idle connections are closed early (after 4 s, or 2 s before the time that the
 * upstream states in `Keep-Alive`).
 *
 * @throws Error if a certificate or key file cannot be read
 */
export async function openUpstream(route: RouteConfig, deps: UpstreamDeps): Promise<Upstream> {
  const socketPath = route.upstream.startsWith('unix:') ? new URL(route.upstream).pathname : null;
  const origin = new URL(socketPath === null ? route.upstream : 'http://localhost');
  const address = { origin, socketPath, tls: tlsOf(route.tls, origin.hostname), lookup: deps.lookup };
  const shares = deps.concurrency.sharesOf(route);
  const { connectMs } = route.timeouts;
  const report = (error: unknown): void =>
    deps.failures.writeException(error, { route: route.prefix, requestId: null, code: null });
  const most = route.connections;
  const { clock, timers, handOvers, readBuffers: buffers } = deps;
  const { upstreamConnectionAgeMs: ageMs } = deps.limits;
  const options = { most, shares: shares.connections, connectMs, ageMs, clock, timers };
  const { webSockets } = shares;
  const mostWebSockets = route.websockets ?? deps.limits.maxConnections;
  const upstream = { ...address, version: null, webSockets, mostWebSockets };
  if (route.client === 'undici') {
    // The import is dynamic, because most configurations do not need it.
    const { openForwarder } = await import('../undici/forwarder.ts');
    return { ...upstream, ...(await openForwarder(address, options, { usage: deps.usage, report })) };
  }
  const connections = new Pool({
    ...options,
    report,
    connect: connector(address, connectMs, { handOvers, report, buffers, timers }),
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
