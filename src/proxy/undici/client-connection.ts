import { Client } from 'undici';
import { guarded, type Breakable } from '../../http/guarded.ts';
import type { Timers } from '../../ports/timers.ts';
import type { UsageSink } from '../../ports/usage.ts';
import { dial, type Address } from '../upstream/connect.ts';
import type { OutgoingRequest } from '../upstream/message-head.ts';
import { maxResponseHeadBytes } from '../upstream/response-parser.ts';
import type { ConnectionOwner, PooledConnection, ResponseHandler } from '../upstream/upstream-client.ts';
import { ForwardedRequest } from './forwarded-request.ts';
import { PausableReading } from './pausable-reading.ts';

/** Dependencies of all connections to an upstream. */
export interface ClientParts {
  readonly address: Address;
  readonly connectMs: number;
  readonly timers: Timers;
  readonly usage: Pick<UsageSink, 'commit'>;
  /** Gives a request to @fastify/http-proxy, which has it dispatched. */
  readonly forward: (request: ForwardedRequest, method: string) => void;
  /** Logs an exception that belongs to no exchange. */
  readonly report: (error: unknown) => void;
}

/** Milliseconds after which an idle connection is closed: the same as in `proxy/upstream`. */
const idleMs = 4_000;

const clientSettings = {
  pipelining: 1,
  keepAliveTimeout: idleMs,
  maxHeaderSize: maxResponseHeadBytes,
  // The exchange has its own timeouts for both sides, so undici's are turned off.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** One undici client, with one connection and one request at a time. */
export class ClientConnection implements PooledConnection, Breakable {
  /** undici handles `Keep-Alive` itself. */
  readonly keepAliveMs = null;
  /** Reader of undici's current connection to the upstream; `null` before there is a connection. */
  reading: PausableReading | null = null;
  readonly client: Client;
  readonly hostname: string;
  readonly usage: ClientParts['usage'];
  readonly #owner: ConnectionOwner;
  readonly #parts: ClientParts;
  #gone = false;
  readonly #free = guarded(this, () => {
    if (!this.#gone) this.#owner.free();
  });

  constructor(owner: ConnectionOwner, parts: ClientParts) {
    this.#owner = owner;
    this.#parts = parts;
    const { origin } = parts.address;
    this.hostname = origin.hostname;
    this.usage = parts.usage;
    this.client = new Client(origin, {
      ...clientSettings,
      connect: (_given, done) => {
        const socket = dial(parts.address, {}, parts.connectMs, parts.timers, (error) => {
          if (error !== null) return done(error, null);
          this.reading = new PausableReading(socket);
          done(null, socket);
        });
      },
    });
  }

  send(request: OutgoingRequest, handler: ResponseHandler): void {
    this.#parts.forward(new ForwardedRequest(request, handler, this), request.method);
  }

  finished(error: Error | null): void {
    if (error !== null) return this.close();
    // The connection is freed later, because undici first checks for bytes after the response.
    setImmediate(this.#free);
  }

  broke(error: unknown): void {
    this.#parts.report(error);
    this.close();
  }

  close(): void {
    if (this.#gone) return;
    // Not within a call of undici's, which would then count a request twice and fail an assertion later.
    void Promise.resolve(null).then(this.client.destroy.bind(this.client));
    this.#owner.gone();
    this.#gone = true;
  }
}
