import { LogController, type FastifyBaseLogger } from 'fastify';
import type { Server, ServerOptions } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { LimitsConfig } from '../config.ts';
import { guardedConnection, guardedOn } from './guarded.ts';
import { hangUp } from './hang-up.ts';
import { routerOptions } from './router-options.ts';

/** Maximum time for receiving a whole request, in milliseconds. `bodyIdleMs` limits the pauses in its body. */
const requestTimeoutMs = 3_600_000;

type ServerLimits = Pick<LimitsConfig, 'maxHeaderBytes' | 'headTimeoutMs' | 'maxConnections'>;

/**
 * Options for `Fastify()`. Fastify's own server never listens, so {@link hardenServer} sets the connection limits on
 * the server that listens.
 */
export function fastifyOptions(limits: Pick<LimitsConfig, 'managementBodyBytes'>) {
  return { bodyLimit: limits.managementBodyBytes, routerOptions };
}

/**
 * Options for a listening server, including limits that Node does not set by default. The caller adds the certificate
 * and key for TLS.
 */
export function nodeServerOptions(limits: ServerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.headTimeoutMs),
    insecureHTTPParser: false,
    // The ingress itself rejects a request without Host, with a problem body.
    requireHostHeader: false,
    noDelay: true,
  };
}

/** Sets the limits that can only be set on the listening server itself. */
export function hardenServer(server: Server, limits: ServerLimits): void {
  // By default Node keeps 1,000 headers and silently drops the rest, even if they include Authorization or
  // Content-Length.
  server.maxHeadersCount = 0;
  server.maxConnections = limits.maxConnections;
  const harden = guardedConnection(hardenConnection);
  server.on('connection', harden);
  // With TLS, requests arrive on the encrypted socket rather than the TCP socket underneath.
  server.on('secureConnection', harden);
  if (server instanceof TlsServer) boundHandshakes(server);
}

/** Gives TLS handshakes the timeout of request heads, because a reload cannot change Node's `handshakeTimeout`. */
function boundHandshakes(server: Server): void {
  // Node's TLS code reads from the TCP socket natively. The JavaScript socket therefore looks idle throughout the
  // handshake, even if bytes trickle in, and its timeout limits the handshake as a whole.
  const bound = (below: Socket): void =>
    void below.setTimeout(server.headersTimeout, () => void below.destroy());
  const unbound = (secure: Socket & { readonly _parent?: Socket }): void =>
    void secure._parent?.setTimeout(0);
  server.on('connection', guardedConnection(bound));
  server.on('secureConnection', guardedConnection(unbound));
}

function hardenConnection(socket: Socket): void {
  // Node removes its own error listener before an upgrade. Without this listener, a reset at that moment would crash
  // the process.
  socket.on('error', ignore);
  // Node calls `destroySoon` after the last response on a connection. Node's own `destroySoon` closes both directions
  // at once, so a client that is still sending could lose the response.
  socket.destroySoon = guardedOn(socket, () => hangUp(socket));
  // Reading the address makes Node cache it. Node cannot determine the address after the client has left.
  void socket.remoteAddress;
}

function ignore(): void {
  /* Code that uses the connection does not need this event to notice that the connection has ended. */
}

/** Turns off Fastify's own log lines, because they contain the query string. */
export function quiet(logger: FastifyBaseLogger) {
  const logController = new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  return { loggerInstance: logger, logController };
}
