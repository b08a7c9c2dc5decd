import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Shares } from '../../limits/shares.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpVersion, OutgoingRequest, ResponseHead } from './message-head.ts';

/** Client that sends the requests of one route to its upstream. */
export interface UpstreamClient {
  /** Sends one request. @param client the request as it came, and its response */
  send(request: OutgoingRequest, handler: ResponseHandler, client: ClientMessages): void;
  /** Ends all connections, together with their requests. */
  close(): void;
}

/** A request as Node parsed it, and the response to its client. */
export interface ClientMessages {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A request on a connection, as its handler sees it. */
export interface InFlightRequest {
  /**
   * Number that grows with progress: with bytes that were sent, and, after the head of the response, with bytes that
   * were received. Earlier received bytes do not count, because an upstream could send interim responses for ever.
   */
  readonly progress: number;
  /** Continues reading after an `onBody` that returned `false`. */
  resume(): void;
  /** Ends the connection. The handler is not called again. */
  abort(): void;
}

/** Members of a response's head for its handler. */
export interface AnsweredHead extends Pick<ResponseHead, 'status' | 'reason' | 'headers'> {
  /** `null` if the reader of the response does not report it. */
  readonly version: HttpVersion | null;
}

/** Handles the events of a request: one head, its body and one end, or a failure at any point. */
export interface ResponseHandler {
  /** The request has a connection, and is sent at the end of this turn of the event loop. */
  onReserved(): void;
  /**
   * Called in the tick in which the request is written, before usage is written. Counts the request. Returns `false` if
   * the request must not be sent after all; the handler is not called again then.
   */
  mayStillSend(): boolean;
  /**
   * Called right before the request is written. Returns `false` if the request must not be sent after all; the count is
   * undone then.
   */
  sending(inFlight: InFlightRequest): boolean;
  /** A 103 (RFC 8297), any number of times before the head. @param headers flat list of names and values */
  onEarlyHints(headers: readonly string[]): void;
  onHead(head: AnsweredHead): void;
  /** Returns `false` if the rest should wait for {@link InFlightRequest.resume}. The handler may keep the bytes. */
  onBody(chunk: Buffer): boolean;
  /** @param trailers flat list of names and values */
  onEnd(trailers: readonly string[]): void;
  onFailure(error: Error): void;
  /**
   * The reused connection of a safe request without a body ended before the first byte of the response. The upstream
   * has probably closed it as idle (RFC 9112 §9.3.1). Returns whether to send the request once more; {@link onReserved}
   * follows then.
   */
  onUnanswered(): boolean;
  /** No connection could be made for the request: the upstream refuses it, or cannot be reached. */
  onRefused(error: Error): void;
}

/** Events of a connection for the pool that owns it. */
export interface ConnectionOwner<Handler = never> {
  /** The connection can take another request. */
  free(): void;
  /**
   * Sends a request on another connection, because the upstream ended this one while it was idle or right afterwards.
   * Called after {@link gone}.
   */
  giveBack(request: OutgoingRequest, handler: Handler): void;
  /** The connection has ended. */
  gone(): void;
}

/** Carries one request at a time to an upstream. */
export interface PooledConnection<Handler> {
  /** Milliseconds for which the upstream keeps the connection open while idle; `null` if it does not say. */
  readonly keepAliveMs: number | null;
  /** Sends a request, at the end of this turn of the event loop or later. */
  send(request: OutgoingRequest, handler: Handler): void;
  /** Ends the connection, together with its request. */
  close(): void;
}

/** Rules for the connections of a pool. */
export interface PoolOptions<Handler> {
  /**
   * Makes a connection.
   *
   * @param done called once, perhaps at once
   * @returns a function that gives up, and also calls `done`
   */
  readonly connect: (
    owner: ConnectionOwner<Handler>,
    done: (made: PooledConnection<Handler> | Error) => void,
  ) => () => void;
  /** Most connections open at once. */
  readonly most: number;
  /** Shares of the tenants in the connections. */
  readonly shares: Shares;
  /** Milliseconds that a request waits for a connection. */
  readonly connectMs: number;
  readonly clock: Clock;
  /** Logs an exception that belongs to no exchange. */
  readonly report: (error: unknown) => void;
}
