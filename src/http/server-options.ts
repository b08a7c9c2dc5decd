import { LogController, type FastifyBaseLogger } from 'fastify';
import type { Server, ServerOptions } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { LimitsConfig } from '../config.ts';
import { guardedConnection, guardedOn } from './guarded.ts';
import { hangUp } from './hang-up.ts';
import { routerOptions } from './router-options.ts';

/**
 * Maximum number of milliseconds for receiving a whole request; `bodyIdleMs` limits pauses in the middle of the
 * request.
 */
const requestTimeoutMs = 3_600_000;

type ServerLimits = Pick<LimitsConfig, 'maxHeaderBytes' | 'headTimeoutMs' | 'maxConnections'>;

/**
 * Options for `Fastify()`. Fastify's own server never listens, so limits on connections are set on the listening
 * server.
 */
export function fastifyOptions(limits: Pick<LimitsConfig, 'managementBodyBytes'>) {
  return { bodyLimit: limits.managementBodyBytes, routerOptions };
}

/**
 * Options for a listening server, with the limits that Node does not set by itself. The caller adds certificate and key
 * for TLS.
 */
export function nodeServerOptions(limits: ServerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.headTimeoutMs),
    insecureHTTPParser: false,
    // The ingress rejects requests without Host in the same way as other malformed requests, with a problem body.
    requireHostHeader: false,
    noDelay: true,
  };
}

/** Sets limits that can only be set on the listening server itself. */
export function hardenServer(server: Server, limits: ServerLimits): void {
  // By default Node keeps 1,000 headers and silently drops the rest, even Authorization and Content-Length.
  server.maxHeadersCount = 0;
  server.maxConnections = limits.maxConnections;
  const harden = guardedConnection(hardenConnection);
  server.on('connection', harden);
  // With TLS, requests arrive on the encrypted socket, and not on the TCP socket below it.
  server.on('secureConnection', harden);
  if (server instanceof TlsServer) boundHandshakes(server);
}

/**
 * Limits a TLS handshake to the timeout for the head of a request. A reload could not change Node's own
 * `handshakeTimeout`.
 */
function boundHandshakes(server: Server): void {
  // Node's TLS reads from the TCP socket in native code. So the JavaScript socket counts as silent during a handshake
  // even if bytes drip in, and its timeout limits the whole handshake.
  const bound = (below: Socket): void =>
    void below.setTimeout(server.headersTimeout, () => void below.destroy());
  const unbound = (secure: Socket & { readonly _parent?: Socket }): void =>
    void secure._parent?.setTimeout(0);
  server.on('connection', guardedConnection(bound));
  server.on('secureConnection', guardedConnection(unbound));
}

function hardenConnection(socket: Socket): void {
  // Node removes its own error listener before an upgrade. Without this listener a reset at that moment would end the
  // process.
  socket.on('error', ignore);
  // Node calls `destroySoon` after the last response of a connection. Node's own function closes both directions at
  // once, so a client that is still sending can lose the response.
  socket.destroySoon = guardedOn(socket, () => hangUp(socket));
  // This read makes Node cache the address, which cannot be read any more after the client has left.
  void socket.remoteAddress;
}

function ignore(): void {
  /* Users of the connection notice its end by themselves. */
}

/** Turns off Fastify's own log lines, because they hold the query string and each line costs a child logger. */
export function quiet(logger: FastifyBaseLogger) {
  const logController = new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  return { loggerInstance: logger, logController };
}
