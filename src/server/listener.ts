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
 * Functions that serve a listener, one for each event of Node's HTTP server that asks for an action. If one of them
 * throws, the connection ends. Requests on a connection are served one at a time: the next one is served when the
 * previous response is out.
 *
 * Without `upgrade`, every request is served as if it had asked for no upgrade. Without the last two functions, Node
 * acts by itself: it sends `100 Continue`, and responds with 417 to an expectation that it does not know.
 */
export interface Application {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * Called if Node's parser rejected bytes on `socket` or the client was too slow. The `code` of the error tells which.
   */
  readonly clientError: (error: Error, socket: Socket) => void;
  /** Logs an exception that ended a connection. */
  readonly broke: (error: unknown) => void;
  /**
   * Called if the client offers another protocol. Returns `false` to ignore the offer; `request` then gets the request.
   *
   * @param head bytes that arrived after the head of the request
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
   * Prepares to replace the application: reads certificate and key.
   *
   * @returns a function that replaces the application. Afterwards every request goes to the new `application`, even on
   * open connections, and new connections get the new certificate. The new application must have the same functions
   * @throws Error if certificate or key cannot be used; the listener is unchanged then
   */
  prepare(): (application: Application, limits: LimitsConfig) => void;
}

/**
 * Makes a listener that serves `application`. The caller lets its server listen.
 *
 * @throws Error if certificate or key cannot be used
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
  // Node stops acting by itself on such an event as soon as the event has a listener.
  for (const event of ['checkContinue', 'checkExpectation'] as const) {
    if (application[event] === undefined) continue;
    const serve = guardedServe((request, response) => current[event]?.(request, response));
    server.on(event, serve);
  }

  return {
    server,
    prepare() {
      const renewed = tls === null ? null : readTls(tls);
      // An unusable certificate or key fails here, before anything is replaced.
      if (renewed !== null) createSecureContext(renewed);
      return (next, limits) => {
        if (renewed !== null) (server as TlsServer).setSecureContext(renewed);
        server.maxConnections = limits.maxConnections;
        server.keepAliveTimeout = limits.keepAliveMs;
        server.headersTimeout = limits.headTimeoutMs;
        // Node reads the limit for each connection when it opens, but declares it only as an option of `createServer`.
        (server as Server & { maxHeaderSize?: number }).maxHeaderSize = limits.maxHeaderBytes;
        current = next;
      };
    },
  };
}

/** Wraps a listener for requests. If the listener throws, the connection of the request ends. */
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
 * Protocols that the server offers in TLS. Node by default offers only the first; TLS clients that offer HTTP/1.0 would
 * then be rejected (`curl --http1.0`).
 */
const ALPNProtocols = ['http/1.1', 'http/1.0'];

function readTls({ certFile, keyFile }: NonNullable<ListenConfig['tls']>): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}
