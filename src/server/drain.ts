import type { Socket } from 'node:net';
import { resetConnection } from '../http/hang-up.ts';
import type { Timers } from '../ports/timers.ts';
import type { ClientConnection } from './client-connection.ts';
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

/** Prepares a listener for draining. There is no cost per request until the drain begins. */
export function drainable(listener: Listener, timers: Timers): Drainable {
  const { connections, below } = listener;
  return {
    drain: (plan) => new Promise((resolve) => new Drain(listener, timers, plan, resolve)),
    connections: () => Math.max(connections.size, below.size),
  };
}

/** Number of checks for idle connections within `idleMs`. */
const looks = 4;
/** Milliseconds between two checks if `idleMs` is 0. */
const soonMs = 50;

class Drain {
  readonly #listener: Listener;
  readonly #timers: Timers;
  readonly #plan: DrainPlan;
  readonly #done: (cut: number) => void;
  /**
   * Number of consecutive checks for which an idle connection stays open. If the next check still finds the connection
   * idle, the connection is closed.
   */
  readonly #patience: number;
  /** Number of consecutive checks that have found a connection idle. */
  readonly #idleFor = new WeakMap<Socket | ClientConnection, number>();
  readonly #callOffLimit: () => void;
  #callOffLook: () => void = () => undefined;
  #looked = 0;
  #refusing = false;
  #over = false;
  #cut = 0;

  constructor(listener: Listener, timers: Timers, plan: DrainPlan, done: (cut: number) => void) {
    this.#listener = listener;
    this.#timers = timers;
    this.#plan = plan;
    this.#done = done;
    listener.leave();
    // Without connections, there are no clients to tell, so the drain does not wait.
    const { connections, below } = listener;
    this.#patience = plan.idleMs === 0 || connections.size + below.size === 0 ? 0 : looks;
    this.#callOffLimit = timers.after(plan.limitMs, () => this.#cutAll());
    this.#look();
  }

  #look(): void {
    if (this.#over) return;
    const { connections, below } = this.#listener;
    for (const connection of connections)
      if (this.#waitedFor(connection, connection.isIdle)) connection.hangUp();
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

  #waitedFor(connection: Socket | ClientConnection, idle: boolean): boolean {
    const looks = idle ? (this.#idleFor.get(connection) ?? 0) : -1;
    this.#idleFor.set(connection, looks + 1);
    return looks >= this.#patience;
  }

  /** Stops accepting connections. */
  #refuse(): void {
    if (this.#refusing) return;
    this.#refusing = true;
    this.#listener.acceptors.close(() => {
      this.#over = true;
      this.#callOffLimit();
      this.#callOffLook();
      this.#done(this.#cut);
    });
  }

  #cutAll(): void {
    this.#refuse();
    const { connections, below } = this.#listener;
    this.#cut = connections.size;
    for (const { socket } of [...connections]) resetConnection(socket);
    for (const socket of [...below]) socket.destroy();
  }
}
