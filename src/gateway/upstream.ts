import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { buildConnector, Pool, type Dispatcher } from 'undici';
import type { RouteConfig } from '../config.ts';

/** Answers with a larger head are not relayed. */
const maxAnswerHeadBytes = 64 * 1024;

/** How an `https:` upstream is verified, and how the gateway shows itself to it. */
export interface UpstreamTls {
  readonly rejectUnauthorized: true;
  /** Name to ask for and to verify; empty for an address, which is verified as such (RFC 6066 §3). */
  readonly servername: string;
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** What undici is asked to send. */
export interface OneRequest extends Dispatcher.DispatchOptions {
  /**
   * The same for all requests of an upstream. Left to itself undici takes the name to verify from the Host header,
   * which is the client's to choose.
   */
  readonly servername: string;
}

/** The connections of one route to its upstream. */
export interface Upstream {
  /** Origin to connect to; of no meaning where there is a socket path. */
  readonly origin: URL;
  readonly socketPath: string | null;
  readonly tls: UpstreamTls;
  /** To be part of all {@link OneRequest}s. */
  readonly servername: string;
  /** Sends one request, once. */
  dispatch(request: OneRequest, handler: Dispatcher.DispatchHandler): void;
  /** Ends all connections, whatever is on them. */
  close(): Promise<void>;
}

/**
 * Opens a route's connections. Requests are sent once: nothing is pipelined, and what fails on a connection is
 * reported, not repeated. An upstream that closes an idle connection just as a request is written to it makes that
 * request fail (502); to make this rare, idle connections are given up early (after 4 s, or 2 s before the time the
 * upstream states in `Keep-Alive`).
 *
 * @throws Error where a certificate or key file cannot be read
 */
export function openUpstream(route: RouteConfig): Upstream {
  const socketPath = route.upstream.startsWith('unix:') ? new URL(route.upstream).pathname : null;
  const origin = new URL(socketPath === null ? route.upstream : 'http://localhost');
  const tls = tlsOf(route.tls, origin.hostname);
  const connector = buildConnector({
    ...tls,
    ...(socketPath === null ? {} : { socketPath }),
    timeout: route.timeouts.connectMs,
    allowH2: false,
  });
  const pool = new Pool(origin.origin, {
    connect: (options, callback) => connector({ ...options, servername: tls.servername }, callback),
    connections: route.connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: route.timeouts.headersMs,
    bodyTimeout: route.timeouts.bodyMs,
    maxHeaderSize: maxAnswerHeadBytes,
  });
  return {
    origin,
    socketPath,
    tls,
    servername: tls.servername === '' ? origin.hostname : tls.servername,
    dispatch: (request, handler) => void pool.dispatch(request, handler),
    close: () => pool.destroy(),
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
