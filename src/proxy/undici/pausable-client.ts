import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { PausableReading } from './pausable-reading.ts';

/** Opens a connection, as undici wants it done. */
export type Connector = (options: object, done: (error: Error | null, socket: Socket | null) => void) => void;

/** A request that wants to know which connection it is put on. */
export interface PausableRequest {
  /** Called before the request is written. */
  goesBy(connection: PausableClient): void;
}

/** What a request is dispatched with. */
export interface PausableOptions extends Dispatcher.DispatchOptions {
  readonly pausable: PausableRequest;
  /** undici keeps a connection for each name. */
  readonly servername: string;
}

/** One of the connections of undici's pool, which its requests can stop reading from. */
export class PausableClient extends Client {
  readonly #latest: { reading: PausableReading | null };

  /** @param options as the pool hands them to the clients that it makes */
  constructor(origin: URL, options: object, connect: Connector) {
    const latest: { reading: PausableReading | null } = { reading: null };
    super(origin, {
      ...options,
      connect: (given, done) =>
        connect(given, (error, socket) => {
          if (socket === null) return done(error ?? new Error('no connection'), null);
          latest.reading = new PausableReading(socket);
          done(null, socket);
        }),
    });
    this.#latest = latest;
  }

  /** Of the connection that is open now; `null` before there is one. */
  get reading(): PausableReading | null {
    return this.#latest.reading;
  }

  override dispatch(options: PausableOptions, handler: Dispatcher.DispatchHandler): boolean {
    options.pausable.goesBy(this);
    return super.dispatch(options, handler);
  }
}
