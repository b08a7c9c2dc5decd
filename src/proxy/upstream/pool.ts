import type { OnReadOpts, Socket } from 'node:net';
import type { Clock } from '../../ports/clock.ts';
import { Connection, type ResponseHandler, type ConnectionOwner } from './connection.ts';
import { readBytes, ReadBuffer } from './read-buffer.ts';
import type { OutgoingRequest } from './request-head.ts';
import { UpstreamTimeout } from './errors.ts';

/** How connections are made, and how many. */
export interface PoolOptions {
  readonly connect: (onread: OnReadOpts) => { socket: Socket; ready: 'connect' | 'secureConnect' };
  /** The `Host` of requests that name none. */
  readonly host: string;
  /** Connections open at once. */
  readonly most: number;
  /** Milliseconds for a connection to be made. */
  readonly connectMs: number;
  readonly clock: Clock;
}

/**
 * An idle connection is closed after `mostMs`, or `marginMs` before the time the upstream states in `Keep-Alive`:
 * otherwise a request could be written to a connection that the upstream is closing.
 */
const idle = { mostMs: 4000, marginMs: 2000 };

interface Waiting {
  readonly sinceMs: number;
  readonly request: OutgoingRequest;
  readonly handler: ResponseHandler;
}

/**
 * The connections to one upstream. A request takes the one that was used last, or waits in line for the next that is
 * free; connections are made while requests wait, up to the limit. Nothing is sent twice.
 */
export class Pool implements ConnectionOwner {
  readonly #options: PoolOptions;
  /** @see ReadBuffer */
  readonly #shared = Buffer.allocUnsafeSlow(readBytes);
  readonly #open = new Set<Connection>();
  readonly #connecting = new Set<Socket>();
  /** The one that was used last comes last. */
  readonly #idle: Connection[] = [];
  readonly #waiting = new Fifo<Waiting>();
  readonly #sweep: NodeJS.Timeout;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => {
      this.#closeIdle();
      this.#endLongWaits();
    }, 1000).unref();
  }

  /** Sends a request, once. */
  send(request: OutgoingRequest, handler: ResponseHandler): void {
    if (this.#closed) return handler.onFailure(new Error('the upstream is closed'));
    const connection = this.#takeIdle();
    if (connection === undefined) {
      this.#waiting.push({ sinceMs: this.#options.clock.monotonicMs(), request, handler });
      this.#connectIfNeeded();
    } else if (handler.onSending(connection)) connection.send(request, handler);
    else this.#offer(connection);
  }

  /** Ends all connections, whatever is on them. What waits for one fails. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#sweep);
    for (const socket of this.#connecting) socket.destroy();
    for (const connection of [...this.#open]) connection.close();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      next.handler.onFailure(new Error('the upstream is closed'));
    }
  }

  free(connection: Connection): void {
    connection.idleSinceMs = this.#options.clock.monotonicMs();
    this.#offer(connection);
  }

  #offer(connection: Connection): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.handler.onSending(connection)) return connection.send(next.request, next.handler);
    }
    this.#idle.push(connection);
  }

  gone(connection: Connection): void {
    this.#open.delete(connection);
    const index = this.#idle.lastIndexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
    this.#connectIfNeeded();
  }

  #takeIdle(): Connection | undefined {
    const connection = this.#idle.pop();
    if (connection === undefined || !this.#tooOld(connection)) return connection;
    // The others have been idle for even longer.
    this.#idle.push(connection);
    this.#closeIdle();
    return this.#idle.pop();
  }

  #closeIdle(): void {
    for (const connection of this.#idle.filter((each) => this.#tooOld(each))) connection.close();
  }

  /**
   * Fails requests that have waited for a connection for `connectMs`. Most of them have ended by then, which the pool is
   * not told; without this they would stay in the queue for as long as all connections are taken.
   */
  #endLongWaits(): void {
    const since = this.#options.clock.monotonicMs() - this.#options.connectMs;
    while ((this.#waiting.first?.sinceMs ?? Infinity) < since) {
      this.#waiting.shift()?.handler.onFailure(new UpstreamTimeout('have a connection free'));
    }
  }

  #tooOld({ idleSinceMs, keepAliveMs }: Connection): boolean {
    const most = Math.min(idle.mostMs, keepAliveMs === null ? Infinity : keepAliveMs - idle.marginMs);
    return this.#options.clock.monotonicMs() - idleSinceMs >= most;
  }

  #connectIfNeeded(): void {
    while (
      !this.#closed &&
      this.#connecting.size < this.#waiting.size &&
      this.#open.size + this.#connecting.size < this.#options.most
    ) {
      this.#connect();
    }
  }

  #connect(): void {
    const { connect, connectMs, host } = this.#options;
    const reading = new ReadBuffer(this.#shared);
    let connection: Connection | undefined;
    const { socket, ready } = connect({
      buffer: () => connection?.nextBuffer() ?? reading.bytes,
      callback: (length) => {
        connection?.read(length);
        return true;
      },
    });
    this.#connecting.add(socket);
    const timer = setTimeout(() => socket.destroy(new UpstreamTimeout('accept a connection')), connectMs);
    const over = (): boolean => {
      clearTimeout(timer);
      return this.#connecting.delete(socket);
    };
    socket.once(ready, () => {
      over();
      connection = new Connection(socket, reading, host, this);
      this.#open.add(connection);
      this.free(connection);
    });
    const failed = (error: Error): void => {
      if (!over()) return;
      // The request that has waited longest fails with this attempt; for the others new attempts are made.
      this.#waiting.shift()?.handler.onFailure(error);
      this.#connectIfNeeded();
    };
    socket.once('error', failed);
    socket.once('close', () => failed(new Error('the upstream closed the connection')));
  }
}

/** A queue whose operations cost the same however long it is; `Array.shift` moves every entry. */
class Fifo<T> {
  readonly #entries: (T | undefined)[] = [];
  #first = 0;

  get size(): number {
    return this.#entries.length - this.#first;
  }

  /** The one that {@link shift} would take. */
  get first(): T | undefined {
    return this.#entries[this.#first];
  }

  push(entry: T): void {
    this.#entries.push(entry);
  }

  shift(): T | undefined {
    const entry = this.#entries[this.#first];
    if (this.#first < this.#entries.length) this.#entries[this.#first++] = undefined;
    // The rest is moved down only once in `mostGone` calls.
    if (this.#first === this.#entries.length || this.#first === mostGone) {
      this.#entries.splice(0, this.#first);
      this.#first = 0;
    }
    return entry;
  }
}

/** Emptied entries at the front of the array, at most. */
const mostGone = 1000;
