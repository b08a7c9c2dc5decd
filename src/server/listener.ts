import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { ListenConfig, LimitsConfig } from '../config.ts';
import { hardenServer, nodeServerOptions } from '../http/server-options.ts';

/** A listening server whose application can be exchanged while connections stay open. */
export interface Door {
  readonly server: Server;
  /**
   * From now on every request goes to `app`, on connections that are open already as well.
   *
   * @param app ready, and like the one before it but for its configuration
   * @throws where certificate or key cannot be used; nothing has changed then
   */
  lead(app: FastifyInstance, limits: LimitsConfig): void;
}

/** Opens the way to `app`. Nothing listens yet. @throws where certificate or key cannot be used */
export function doorTo(app: FastifyInstance, limits: LimitsConfig, tls: ListenConfig['tls']): Door {
  const options = nodeServerOptions(limits);
  const server = tls === null ? createServer(options) : createTlsServer({ ...options, ...readTls(tls) });
  hardenServer(server, limits);
  server.keepAliveTimeout = limits.keepAliveMs;

  // An app's own server never listens. It is where Fastify, the front door and the proxy wait for these events.
  let inside = app.server;
  for (const event of passedOn) {
    // What nobody waits for, Node does by itself: it sends `100 Continue`, and passes over an upgrade.
    if (inside.listenerCount(event) === 0) continue;
    server.on(event, (first: unknown, second: Duplex, third: unknown) => {
      inside.emit(event, first, second, third);
    });
  }

  return {
    server,
    lead(next, limits) {
      // First what may fail. A certificate that was renewed holds for connections from now on.
      if (tls !== null) (server as TlsServer).setSecureContext(readTls(tls));
      server.maxConnections = limits.maxConnections;
      server.keepAliveTimeout = limits.keepAliveMs;
      server.headersTimeout = limits.headTimeoutMs;
      // Read for each connection when it opens; Node's declarations know it as an option only.
      (server as Server & { maxHeaderSize?: number }).maxHeaderSize = limits.maxHeaderBytes;
      inside = next.server;
    },
  };
}

const passedOn = ['request', 'checkContinue', 'checkExpectation', 'clientError', 'upgrade'] as const;

function readTls({ certFile, keyFile }: NonNullable<ListenConfig['tls']>): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}
