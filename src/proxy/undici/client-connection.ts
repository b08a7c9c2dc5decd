import type { Socket } from 'node:net';
import { Client } from 'undici';
import { guarded, type Breakable } from '../../http/guarded.ts';
import type { ConnectionOwner } from '../upstream/upstream-client.ts';
import type { OutgoingRequest } from '../upstream/message-head.ts';
import type { PooledConnection } from '../upstream/upstream-client.ts';
import type { ForwardedRequest } from './forwarded-request.ts';
import { PausableReading } from './pausable-reading.ts';

/** Opens a connection in the form that undici expects. */
export type Connector = (options: object, done: (error: Error | null, socket: Socket | null) => void) => void;

interface ClientParts {
  readonly owner: ConnectionOwner;
  /** Logs an exception that belongs to no exchange. */
  readonly report: (error: unknown) => void;
}

/** One undici client, with one connection and one request at a time. */
export class ClientConnection implements PooledConnection<ForwardedRequest>, Breakable {
  /** undici handles `Keep-Alive` itself. */
  readonly keepAliveMs = null;
  /** Reader of undici's current connection to the upstream; `null` before there is a connection. */
  reading: PausableReading | null = null;
  readonly #client: Client;
  readonly #owner: ConnectionOwner;
  readonly #report: ClientParts['report'];
  #gone = false;
  readonly #free = guarded(this, () => {
    if (!this.#gone) this.#owner.free();
  });

  constructor(origin: URL, options: Client.Options, connect: Connector, parts: ClientParts) {
    this.#owner = parts.owner;
    this.#report = parts.report;
    this.#client = new Client(origin, {
      ...options,
      pipelining: 1,
      connect: (given, done) =>
        connect(given, (error, socket) => {
          if (socket === null) return done(error ?? new Error('no connection'), null);
          this.reading = new PausableReading(socket);
          done(null, socket);
        }),
    });
  }

  send(_request: OutgoingRequest, forwarded: ForwardedRequest): void {
    forwarded.dispatch(this.#client, this, (error) => {
      if (error !== null) return this.close();
      // The connection is freed later, because undici first checks for bytes after the response.
      setImmediate(this.#free);
    });
  }

  broke(error: unknown): void {
    this.#report(error);
    this.close();
  }

  close(): void {
    if (this.#gone) return;
    // Not within a call of undici's, which would then count a request twice and fail an assertion later.
    void Promise.resolve(null).then(this.#client.destroy.bind(this.#client));
    this.#owner.gone();
    this.#gone = true;
  }
}
