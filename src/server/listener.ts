import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import type { ListenConfig, LimitsConfig } from '../config.ts';
import { hardenServer, nodeServerOptions } from '../http/server-options.ts';

/**
 * What a listener serves: one function for each of the events of Node's HTTP server that ask for something to be done.
 * None of them may throw.
 *
 * Node acts by itself on those that an application leaves out: it serves a request for an upgrade like any other,
 * sends `100 Continue`, and answers 417 to an expectation that it does not know.
 */
export interface Application {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  /** Node's parser rejected what came in on `socket`, or the client was too slow. The error's `code` says which. */
  readonly clientError: (error: Error, socket: Socket) => void;
  /** The client asks for another protocol. @param head bytes that came in behind the head of the request */
  readonly upgrade?: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** The client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1). */
  readonly checkContinue?: (request: IncomingMessage, response: ServerResponse) => void;
  /** The client expects something other than `100-continue`. */
  readonly checkExpectation?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** A server for one address, whose application can be replaced while connections stay open. */
export interface Listener {
  readonly server: Server;
  /**
   * From now on every request goes to `application`, on connections that are open already as well.
   *
   * @param application has the same functions as the one before
   * @throws where certificate or key cannot be used; nothing has changed then
   */
  serve(application: Application, limits: LimitsConfig): void;
}

/** A listener that serves `application`; it does not listen yet. @throws where certificate or key cannot be used */
export function createListener(
  application: Application,
  limits: LimitsConfig,
  tls: ListenConfig['tls'],
): Listener {
  const options = nodeServerOptions(limits);
  const server = tls === null ? createServer(options) : createTlsServer({ ...options, ...readTls(tls) });
  hardenServer(server, limits);
  server.keepAliveTimeout = limits.keepAliveMs;

  let current = application;
  server.on('request', (request, response) => current.request(request, response));
  server.on('clientError', (error, socket) => current.clientError(error, socket as Socket));
  // Node stops acting by itself as soon as one of these has a listener.
  if (application.upgrade) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      current.upgrade?.(request, socket as Socket, head);
    });
  }
  if (application.checkContinue) {
    server.on('checkContinue', (request, response) => current.checkContinue?.(request, response));
  }
  if (application.checkExpectation) {
    server.on('checkExpectation', (request, response) => current.checkExpectation?.(request, response));
  }

  return {
    server,
    serve(next, limits) {
      // First what may fail. A renewed certificate holds for connections from now on.
      if (tls !== null) (server as TlsServer).setSecureContext(readTls(tls));
      server.maxConnections = limits.maxConnections;
      server.keepAliveTimeout = limits.keepAliveMs;
      server.headersTimeout = limits.headTimeoutMs;
      // Node reads it for each connection when it opens, but declares it as an option of `createServer` alone.
      (server as Server & { maxHeaderSize?: number }).maxHeaderSize = limits.maxHeaderBytes;
      current = next;
    },
  };
}

function readTls({ certFile, keyFile }: NonNullable<ListenConfig['tls']>): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}
