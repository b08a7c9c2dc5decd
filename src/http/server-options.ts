import { LogController, type FastifyBaseLogger } from 'fastify';
import type { Server, ServerOptions } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { LimitsConfig } from '../config.ts';
import { guardedConnection, guardedOn } from './guarded.ts';
import { hangUp } from './hang-up.ts';
import { routerOptions } from './router-options.ts';

/** Maximum number of milliseconds for a whole request; `bodyIdleMs` limits pauses in the middle of it. */
const requestTimeoutMs = 3_600_000;

type ServerLimits = Pick<LimitsConfig, 'maxHeaderBytes' | 'headTimeoutMs' | 'maxConnections'>;

/** Options for `Fastify()`. Its own server never listens, so limits of connections are set on the listening server. */
export function fastifyOptions(limits: Pick<LimitsConfig, 'managementBodyBytes'>) {
  return { bodyLimit: limits.managementBodyBytes, routerOptions };
}

/**
 * Options for a listening server, with the limits that Node does not set by itself. With TLS, certificate and key are
 * added.
 */
export function nodeServerOptions(limits: ServerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.headTimeoutMs),
    insecureHTTPParser: false,
    // The ingress rejects requests without Host like other malformed ones, with a problem body.
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
  // With TLS, requests are on the encrypted socket, not on the one below it.
  server.on('secureConnection', harden);
  if (server instanceof TlsServer) boundHandshakes(server);
}

/**
 * Limits a TLS handshake to the timeout for the head of a request. A reload could not change Node's own
 * `handshakeTimeout`.
 */
function boundHandshakes(server: Server): void {
  // Node's TLS reads below the socket's JavaScript. So the socket counts as silent during a handshake, even if bytes
  // drip in, and its timeout limits the whole handshake.
  const bound = (below: Socket): void =>
    void below.setTimeout(server.headersTimeout, () => void below.destroy());
  const unbound = (secure: Socket & { readonly _parent?: Socket }): void =>
    void secure._parent?.setTimeout(0);
  server.on('connection', guardedConnection(bound));
  server.on('secureConnection', guardedConnection(unbound));
}

function hardenConnection(socket: Socket): void {
  // Node removes its own error listener before an upgrade: a reset at that moment would end the process.
  socket.on('error', ignore);
  // Node calls this after the last response of a connection. Node's own function closes both directions at once, so a
  // client that is still sending can lose the response.
  socket.destroySoon = guardedOn(socket, () => hangUp(socket));
  // Node caches the address at the first read. After the client has left, the address could no longer be read.
  void socket.remoteAddress;
}

function ignore(): void {
  /* Users of the connection notice its end by themselves. */
}

/** Turns off Fastify's own log lines: they hold the query string, and each costs a child logger. */
export function quiet(logger: FastifyBaseLogger) {
  const logController = new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  return { loggerInstance: logger, logController };
}
