import { LogController, type FastifyBaseLogger } from 'fastify';
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { LimitsConfig } from '../config.ts';
import { hangUp } from './hang-up.ts';
import { routerOptions } from './router-options.ts';

/** An upper bound for a whole request; silence in the middle of one is bounded far lower, by `bodyIdleMs`. */
const requestTimeoutMs = 3_600_000;

type ServerLimits = Pick<LimitsConfig, 'maxHeaderBytes' | 'headTimeoutMs' | 'maxConnections'>;

/** Options for `Fastify()`, whose own server never listens: the limits of connections are set on the one that does. */
export function fastifyOptions(limits: Pick<LimitsConfig, 'managementBodyBytes'>) {
  return { bodyLimit: limits.managementBodyBytes, routerOptions };
}

/** Options for a listening server; with inbound TLS they go beside certificate and key. What Node leaves unlimited is limited. */
export function nodeServerOptions(limits: ServerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.headTimeoutMs),
    insecureHTTPParser: false,
    // A request without Host is rejected with the others that are malformed, and with a body that says so.
    requireHostHeader: false,
    noDelay: true,
  };
}

/** What has to be set on the listening server itself. */
export function hardenServer(server: Server, limits: ServerLimits): void {
  // By default Node keeps 1,000 headers and drops the others silently, Authorization and Content-Length among them.
  server.maxHeadersCount = 0;
  server.maxConnections = limits.maxConnections;
  server.on('connection', hardenConnection);
  // With TLS requests are on the encrypted socket, not on the one below it.
  server.on('secureConnection', hardenConnection);
}

function hardenConnection(socket: Socket): void {
  // Node takes its own error listener away before an upgrade: a reset in that moment would end the process.
  socket.on('error', ignore);
  // Node calls this after the last response of a connection. Its own function closes both directions at once, and a client
  // that is still sending can lose that response.
  socket.destroySoon = hangUpThis;
  // Node asks for the address once and remembers it. Of a client that has left it could not be asked for any more.
  void socket.remoteAddress;
}

function hangUpThis(this: Socket): void {
  hangUp(this);
}

function ignore(): void {
  /* The connection's end is seen by what uses it. */
}

/** Logging is ours: Fastify's own lines hold the query string, and cost a child logger each. */
export function quiet(logger: FastifyBaseLogger) {
  const logController = new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  return { loggerInstance: logger, logController };
}
