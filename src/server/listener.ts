import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { LimitsConfig, ListenConfig } from '../config.ts';
import { HeldBytes } from '../limits/held-bytes.ts';
import { guarded, guardedConnection, guardedOn, reportFaults } from '../http/guarded.ts';
import { systemClock, type Clock } from '../ports/clock.ts';
import { checkEvery, systemTimers, type AllTimers } from '../ports/timers.ts';
import { Acceptors } from './acceptors.ts';
import { ClientConnection } from './client-connection.ts';
import { ConnectionPlaces, type ClosedForRoom } from './connection-places.ts';
import { Served, type Application } from './served.ts';

/**
 * Milliseconds of silence after which the operating system asks whether a client is still there. Without it, a client
 * that vanished during a long response from a silent upstream would keep its place for ever.
 */
const keepAliveInitialDelay = 60_000;

/** A server for one address. Its application can be replaced while connections stay open. */
export interface Listener {
  readonly server: Server;
  /** Accepts connections for {@link server}. */
  readonly acceptors: Acceptors;
  /** Open connections on which requests arrive. */
  readonly connections: ReadonlySet<ClientConnection>;
  /** With TLS, the TCP sockets of all connections, including those still in the handshake. Empty without TLS. */
  readonly below: ReadonlySet<Socket>;
  /** Makes each further response the last one on its connection, unless the next request has already arrived. */
  leave(): void;
  /**
   * Reads the certificate and key, in preparation for replacing the application.
   *
   * @returns a function that replaces the application. From then on, every request goes to the new `application`, even
   * on open connections, and new connections get the new certificate
   * @throws Error if the certificate or key cannot be used; the listener then stays unchanged
   */
  prepare(): (application: Application, limits: LimitsConfig) => void;
}

/**
 * Creates a listener that serves `application`. The caller lets its acceptors listen.
 *
 * @throws Error if the certificate or key cannot be used
 */
export function createListener(
  application: Application,
  limits: LimitsConfig,
  tls: ListenConfig['tls'],
  clock: Clock = systemClock,
  timers: AllTimers = systemTimers,
  held: HeldBytes = new HeldBytes(limits.heldBytes),
  noteClosed: (what: ClosedForRoom) => void = () => undefined,
): Listener {
  const secureSockets = new SecureSockets(clock);
  const served = new Served(application, limits, clock, held);
  const options = { noDelay: true, allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay };
  const server =
    tls === null ? createServer(options) : createTlsServer({ ...options, ALPNProtocols, ...readTls(tls) });
  const connections = held.add(new Set<ClientConnection>());
  const places = new ConnectionPlaces(served, noteClosed);
  server.on(
    'connection',
    guardedConnection((socket: Socket) => places.enter(socket)),
  );

  const opened = (socket: Socket): void => {
    places.serve(secureSockets.of(socket), serve(socket, served, connections));
  };
  server.on(tls === null ? 'connection' : 'secureConnection', guardedConnection(opened));
  if (tls !== null) secureSockets.follow(server as TlsServer);

  let stopChecking = (): void => undefined;
  let isClosed = false;
  const broke = (error: unknown): void => served.application.broke(error);
  const check = guarded({ broke }, (nowMs: number) => {
    for (const connection of connections) connection.check(nowMs);
    places.check();
    secureSockets.check(nowMs, served.limits.headTimeoutMs);
    // The server has closed before the other acceptors if only these have connections.
    if (isClosed && connections.size + secureSockets.below.size === 0) stopChecking();
  });
  const startChecking = (limits: LimitsConfig): void => {
    stopChecking();
    stopChecking = checkEvery(checksMs(limits), clock, check, timers);
  };
  startChecking(limits);
  server.on('close', () => {
    isClosed = true;
    check(clock.monotonicMs());
  });

  return {
    server,
    acceptors: new Acceptors(server, options),
    connections,
    below: secureSockets.below,
    leave: () => void (served.leaving = true),
    prepare() {
      const renewed = tls === null ? null : readTls(tls);
      // Checks the certificate and key before anything is replaced: it throws if they are unusable.
      if (renewed !== null) createSecureContext(renewed);
      return (next, nextLimits) => {
        if (renewed !== null) (server as TlsServer).setSecureContext(renewed);
        served.replace(next, nextLimits);
        startChecking(nextLimits);
      };
    },
  };
}

function serve(socket: Socket, served: Served, connections: Set<ClientConnection>): ClientConnection {
  reportFaults(socket, (error) => served.application.broke(error));
  socket.on('error', ignore);
  // Reading the address makes Node cache it. Node cannot determine the address after the client has left.
  void socket.remoteAddress;
  const connection = new ClientConnection(socket, served);
  connections.add(connection);
  const closed = (): void => void connections.delete(connection);
  socket.once('close', guardedOn(socket, closed));
  return connection;
}

/** Maximum number of milliseconds between two checks for clients that keep the gateway waiting. */
const mostCheckMs = 1000;

function checksMs({ headTimeoutMs, keepAliveMs }: LimitsConfig): number {
  return Math.max(20, Math.min(mostCheckMs, headTimeoutMs / 2, keepAliveMs / 2));
}

function ignore(): void {
  /* Code that uses the connection does not need this event to notice that the connection has ended. */
}

/** The TCP sockets below TLS connections. Node has no public way from one to the other, but both have the same ends. */
class SecureSockets {
  readonly below = new Set<Socket>();
  readonly #byPeer = new Map<string, Socket>();
  /** Since when each handshake has been under way, as monotonic time. */
  readonly #handshakes = new Map<Socket, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  follow(server: TlsServer): void {
    const opened = (socket: Socket): void => {
      const peer = peerOf(socket);
      this.below.add(socket);
      this.#byPeer.set(peer, socket);
      this.#handshakes.set(socket, this.#clock.monotonicMs());
      const closed = (): void => {
        this.below.delete(socket);
        this.#handshakes.delete(socket);
        if (this.#byPeer.get(peer) === socket) this.#byPeer.delete(peer);
      };
      socket.once('close', guardedOn(socket, closed));
    };
    server.on('connection', guardedConnection(opened));
    const secured = (secure: Socket): void => {
      const socket = this.#byPeer.get(peerOf(secure));
      if (socket !== undefined) this.#handshakes.delete(socket);
    };
    server.on('secureConnection', guardedConnection(secured));
  }

  /** Returns the TCP socket of a connection. */
  of(socket: Socket): Socket | null {
    return 'encrypted' in socket ? (this.#byPeer.get(peerOf(socket)) ?? null) : socket;
  }

  /** Ends the handshakes that have taken longer than `mostMs`, whether bytes trickle in or not. */
  check(nowMs: number, mostMs: number): void {
    for (const [socket, sinceMs] of this.#handshakes) if (nowMs - sinceMs > mostMs) socket.destroy();
  }
}

function peerOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join();
}

/**
 * Protocols that the server offers in TLS. By default, Node offers only HTTP/1.1, so it would reject TLS clients that
 * offer only HTTP/1.0 (`curl --http1.0`).
 */
const ALPNProtocols = ['http/1.1', 'http/1.0'];

/** Cipher suites of TLS 1.3, and those of TLS 1.2 with forward secrecy and AEAD (RFC 9325 §4.2), so none with CBC. */
const ciphers =
  'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20';

function readTls({ certFile, keyFile }: NonNullable<ListenConfig['tls']>) {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile), ciphers };
}
