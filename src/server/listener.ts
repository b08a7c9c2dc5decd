import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { ListenConfig, LimitsConfig } from '../config.ts';
import { breakConnection, guardedConnection, reportFaults } from '../http/guarded.ts';
import { hardenServer, nodeServerOptions } from '../http/server-options.ts';
import { serveOffers } from './upgrade-offers.ts';

/**
 * Handlers for a listener's events. If a handler throws, the connection ends. Requests on a connection are served one
 * at a time, each after the previous response has been sent.
 *
 * Without `upgrade`, every request is served as if it had not asked for an upgrade. Without `checkContinue`, Node sends
 * `100 Continue` itself. Without `checkExpectation`, Node responds with 417 to an unknown expectation.
 */
export interface Application {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  /** Called if Node's parser rejects bytes on `socket` or the client is too slow; the error's `code` says which. */
  readonly clientError: (error: Error, socket: Socket) => void;
  /** Logs an exception that ended a connection. */
  readonly broke: (error: unknown) => void;
  /**
   * Called if the client offers another protocol. If it returns `false`, the offer is ignored and the request goes to
   * `request`.
   *
   * @param head bytes that arrived after the request's head
   */
  readonly upgrade?: (request: IncomingMessage, socket: Socket, head: Buffer) => boolean;
  /** Called if the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1). */
  readonly checkContinue?: (request: IncomingMessage, response: ServerResponse) => void;
  /** Called if the client expects something other than `100-continue`. */
  readonly checkExpectation?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** A server for one address. Its application can be replaced while connections stay open. */
export interface Listener {
  readonly server: Server;
  /**
   * Reads the certificate and key, in preparation for replacing the application.
   *
   * @returns a function that replaces the application. From then on, every request goes to the new `application`, even
   * on open connections, and new connections get the new certificate. The new application must have the same handlers
   * @throws Error if the certificate or key cannot be used; the listener then stays unchanged
   */
  prepare(): (application: Application, limits: LimitsConfig) => void;
}

/**
 * Creates a listener that serves `application`. The caller starts its server.
 *
 * @throws Error if the certificate or key cannot be used
 */
export function createListener(
  application: Application,
  limits: LimitsConfig,
  tls: ListenConfig['tls'],
): Listener {
  const options = nodeServerOptions(limits);
  const server =
    tls === null ? createServer(options) : createTlsServer({ ...options, ALPNProtocols, ...readTls(tls) });
  let current = application;
  serveOffers(server, tls !== null, (...offer) => current.upgrade?.(...offer) ?? false);
  hardenServer(server, limits);
  server.keepAliveTimeout = limits.keepAliveMs;
  const opened = (socket: Socket): void => reportFaults(socket, (error) => current.broke(error));
  server.prependListener(tls === null ? 'connection' : 'secureConnection', guardedConnection(opened));

  server.on(
    'request',
    guardedServe((request, response) => current.request(request, response)),
  );
  server.on('clientError', (error, socket) => {
    try {
      current.clientError(error, socket as Socket);
    } catch (exception) {
      breakConnection(socket as Socket, exception);
    }
  });
  // Node takes its default action for an event only if the event has no listener.
  for (const event of ['checkContinue', 'checkExpectation'] as const) {
    if (application[event] === undefined) continue;
    const serve = guardedServe((request, response) => current[event]?.(request, response));
    server.on(event, serve);
  }

  return {
    server,
    prepare() {
      const renewed = tls === null ? null : readTls(tls);
      // Checks the certificate and key before anything is replaced: it throws if they are unusable.
      if (renewed !== null) createSecureContext(renewed);
      return (next, limits) => {
        if (renewed !== null) (server as TlsServer).setSecureContext(renewed);
        server.maxConnections = limits.maxConnections;
        server.keepAliveTimeout = limits.keepAliveMs;
        server.headersTimeout = limits.headTimeoutMs;
        // Node reads this limit whenever a connection opens, but its types declare it only as an option of
        // `createServer`.
        (server as Server & { maxHeaderSize?: number }).maxHeaderSize = limits.maxHeaderBytes;
        current = next;
      };
    },
  };
}

/** Wraps a request handler so that the request's connection ends if the handler throws. */
function guardedServe(serve: Application['request']): Application['request'] {
  return (request, response) => {
    try {
      serve(request, response);
    } catch (error) {
      breakConnection(request.socket, error);
    }
  };
}

/**
 * Protocols that the server offers in TLS. By default, Node offers only HTTP/1.1, so it would reject TLS clients that
 * offer only HTTP/1.0 (`curl --http1.0`).
 */
const ALPNProtocols = ['http/1.1', 'http/1.0'];

function readTls({ certFile, keyFile }: NonNullable<ListenConfig['tls']>): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}
