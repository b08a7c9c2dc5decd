import { Server as NetServer, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { hangUp } from '../http/hang-up.ts';
import type { Timers } from '../ports/timers.ts';
import { Farewell } from './farewell.ts';
import type { Listener } from './listener.ts';

/** How a listener is to be ended. */
export interface DrainPlan {
  /** Connections still open after this many milliseconds are cut: upgraded ones never end by themselves. */
  readonly limitMs: number;
  /**
   * For this many milliseconds new connections are still taken, and a connection that is idle for less is not closed: a
   * client that sends a request on it gets a response, and with it the word to connect elsewhere.
   */
  readonly idleMs: number;
  /** Called when no more connections are taken, and again every now and then until the last is closed. */
  readonly onRefusing?: () => void;
}

/** A listener that can be ended without a request being lost. */
export interface Drainable {
  /**
   * Tells clients to connect elsewhere (`Connection: close` on every response), then closes what is idle and takes no more
   * connections, and resolves when the last is closed.
   *
   * @returns how many had to be cut
   */
  readonly drain: (plan: DrainPlan) => Promise<number>;
  /** How many connections are open. */
  readonly connections: () => number;
}

/** To be called before the listener listens. Costs nothing per request until it drains. */
export function drainable(listener: Listener, timers: Timers): Drainable {
  const { server } = listener;
  const open: Connections = { all: new Set(), below: new Set() };
  // With TLS, requests belong to the encrypted socket and not to the one below it.
  const tls = server instanceof TlsServer;
  server.on(tls ? 'secureConnection' : 'connection', trackIn(open.all));
  if (tls) server.on('connection', trackIn(open.below));
  return {
    drain: (plan) => new Promise((resolve) => new Drain(listener, open, timers, plan, resolve)),
    connections: () => (tls ? open.below : open.all).size,
  };
}

interface Connections {
  /** Those that carry requests. */
  readonly all: Set<Socket>;
  /** With TLS, the ones below them, and those that have not shaken hands yet. */
  readonly below: Set<Socket>;
}

function trackIn(sockets: Set<Socket>): (socket: Socket) => void {
  return (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
}

/** How often in `idleMs` idle connections are looked for. */
const looks = 4;
/** The same where `idleMs` is 0, milliseconds. */
const soonMs = 50;

class Drain {
  readonly #server: Listener['server'];
  readonly #open: Connections;
  readonly #timers: Timers;
  readonly #plan: DrainPlan;
  readonly #done: (cut: number) => void;
  /** In how many looks, one after the other, a connection has to be idle before it is closed. */
  readonly #patience: number;
  /** In how many it was. */
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
    const farewell = new Farewell(listener);
    for (const socket of open.all) farewell.underWay(socket);
    // Where no client is connected there is none to tell.
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
    // After a turn of reading: requests that came in before now have begun, and their connections are not idle.
    this.#callOffLook = this.#timers.after(everyMs, () => setImmediate(() => this.#look()));
  }

  #waitedFor(socket: Socket, idle: boolean): boolean {
    const looks = idle ? (this.#idleFor.get(socket) ?? 0) : -1;
    this.#idleFor.set(socket, looks + 1);
    return looks >= this.#patience;
  }

  /** Takes no more connections. */
  #refuse(): void {
    if (this.#refusing) return;
    this.#refusing = true;
    // Without what the HTTP server adds to it: that cuts idle connections, with a reset where a request comes in.
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
 * Connections without a request, not even the beginning of one. Only Node knows what has begun to arrive, and it tells of
 * these connections by closing them and in no other way: so here closing one only lists it.
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
    // Node counts one that has never sent anything among the busy ones.
    if (socket.bytesRead === 0) idle.add(socket);
  }
  return idle;
}
