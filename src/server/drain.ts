import { Server as NetServer, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { hangUp } from '../http/hang-up.ts';
import type { Timers } from '../ports/timers.ts';
import { ConnectionClose } from './connection-close.ts';
import type { Listener } from './listener.ts';

/** Settings for draining a listener. */
export interface DrainPlan {
  /** Milliseconds after which all remaining connections are cut. Upgraded connections may never end on their own. */
  readonly limitMs: number;
  /**
   * Milliseconds during which the listener still accepts connections and keeps idle connections open. Each response
   * sent in this time tells its client to connect elsewhere.
   */
  readonly idleMs: number;
  /**
   * Called when the listener stops accepting connections, and then at intervals until the last connection is closed.
   */
  readonly onRefusing?: () => void;
}

/** A listener that can shut down without losing a request. */
export interface Drainable {
  /**
   * Tells clients to connect elsewhere (`Connection: close` on every response). After `idleMs`, closes idle connections
   * and accepts no new connections. Resolves when the last connection is closed.
   *
   * @returns the number of connections that were cut when `limitMs` had passed
   */
  readonly drain: (plan: DrainPlan) => Promise<number>;
  /** Number of open connections. */
  readonly connections: () => number;
}

/**
 * Prepares a listener for draining. Call this before the server listens. There is no cost per request until the drain
 * begins.
 */
export function drainable(listener: Listener, timers: Timers): Drainable {
  const { server } = listener;
  const open: Connections = { all: new Set(), below: new Set() };
  // With TLS, requests arrive on the encrypted socket, not on the TCP socket below it.
  const tls = server instanceof TlsServer;
  server.on(tls ? 'secureConnection' : 'connection', trackIn(open.all));
  if (tls) server.on('connection', trackIn(open.below));
  return {
    drain: (plan) => new Promise((resolve) => new Drain(listener, open, timers, plan, resolve)),
    connections: () => (tls ? open.below : open.all).size,
  };
}

interface Connections {
  /** Sockets on which requests arrive: the encrypted sockets with TLS, the TCP sockets without TLS. */
  readonly all: Set<Socket>;
  /** With TLS, the TCP sockets of all connections, including connections still in the handshake. Empty without TLS. */
  readonly below: Set<Socket>;
}

function trackIn(sockets: Set<Socket>): (socket: Socket) => void {
  return (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
}

/** Number of checks for idle connections within `idleMs`. */
const looks = 4;
/** Milliseconds between two checks if `idleMs` is 0. */
const soonMs = 50;

class Drain {
  readonly #server: Listener['server'];
  readonly #open: Connections;
  readonly #timers: Timers;
  readonly #plan: DrainPlan;
  readonly #done: (cut: number) => void;
  /**
   * Number of consecutive checks for which an idle connection stays open. If the next check still finds the connection
   * idle, the connection is closed.
   */
  readonly #patience: number;
  /** Number of consecutive checks that have found a connection idle. */
  readonly #idleFor = new WeakMap<Socket, number>();
  readonly #callOffLimit: () => void;
  #callOffLook: () => void = () => undefined;
  #looked = 0;
  #refusing = false;
  #over = false;
  #cut = 0;

  constructor(
    listener: Listener,
    open: Connections,
    timers: Timers,
    plan: DrainPlan,
    done: (cut: number) => void,
  ) {
    this.#server = listener.server;
    this.#open = open;
    this.#timers = timers;
    this.#plan = plan;
    this.#done = done;
    const closing = new ConnectionClose(listener.server);
    for (const socket of open.all) closing.underWay(socket);
    // Without connections, there are no clients to tell, so the drain does not wait.
    this.#patience = plan.idleMs === 0 || open.all.size + open.below.size === 0 ? 0 : looks;
    this.#callOffLimit = timers.after(plan.limitMs, () => this.#cutAll());
    this.#look();
  }

  #look(): void {
    if (this.#over) return;
    const { all, below } = this.#open;
    const idle = idleOf(this.#server, all);
    for (const socket of all) if (this.#waitedFor(socket, idle.has(socket))) hangUp(socket);
    for (const socket of below) if (this.#waitedFor(socket, socket.bytesRead === 0)) socket.destroy();
    if (this.#looked++ >= this.#patience) {
      this.#refuse();
      this.#plan.onRefusing?.();
    }
    const everyMs = this.#plan.idleMs / looks || soonMs;
    // `setImmediate` lets sockets be read before the check. Requests that have arrived by then are in progress, so
    // their connections are not closed as idle.
    this.#callOffLook = this.#timers.after(everyMs, () => setImmediate(() => this.#look()));
  }

  #waitedFor(socket: Socket, idle: boolean): boolean {
    const looks = idle ? (this.#idleFor.get(socket) ?? 0) : -1;
    this.#idleFor.set(socket, looks + 1);
    return looks >= this.#patience;
  }

  /** Stops accepting connections. */
  #refuse(): void {
    if (this.#refusing) return;
    this.#refusing = true;
    // The HTTP server's own `close` would also cut idle connections, and a request arriving on one would get a reset.
    NetServer.prototype.close.call(this.#server, () => {
      this.#over = true;
      this.#callOffLimit();
      this.#callOffLook();
      this.#done(this.#cut);
    });
  }

  #cutAll(): void {
    this.#refuse();
    this.#cut = this.#open.all.size;
    for (const socket of [...this.#open.all, ...this.#open.below]) socket.destroy();
  }
}

/**
 * Returns the connections that have no request, not even a partial one. Only Node knows whether a request has begun,
 * and it reveals idle connections only by closing them. So this function temporarily replaces `destroy` with a function
 * that lists the connection instead of closing it.
 */
function idleOf(server: Listener['server'], connections: ReadonlySet<Socket>): Set<Socket> {
  const idle = new Set<Socket>();
  const list = function (this: Socket): Socket {
    idle.add(this);
    return this;
  };
  for (const socket of connections) socket.destroy = list;
  server.closeIdleConnections();
  for (const socket of connections) {
    Reflect.deleteProperty(socket, 'destroy');
    // Node counts a connection as busy if the client has never sent anything on it.
    if (socket.bytesRead === 0) idle.add(socket);
  }
  return idle;
}
