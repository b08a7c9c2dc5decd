import type { OfNetwork } from '../../http/turn.ts';
import type { Shares } from '../../limits/shares.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AllTimers } from '../../ports/timers.ts';
import type { HttpVersion } from '../../http1/version.ts';
import type { OutgoingRequest, ResponseHead } from './message-head.ts';

/** Client that sends one route's requests to its upstream. */
export interface UpstreamClient {
  /** Sends one request. */
  send(request: OutgoingRequest, handler: ResponseHandler): void;
  /** Ends all connections, along with their requests. */
  close(): void;
}

/** A request on a connection, as its handler sees it. */
export interface InFlightRequest {
  /**
   * Number that grows with progress: with every byte sent and, after the head of the response, with every byte
   * received. Bytes received before the head do not count, because an upstream could send interim responses forever.
   */
  readonly progress: number;
  /** Number of bytes held in memory: those that wait to be sent, and what was read but not passed on. */
  readonly heldBytes: number;
  /** Resumes reading the response after an `onBody` that returned `false`. */
  resume(): void;
  /** Ends the connection with a reset. The handler is not called again. */
  abort(): void;
}

/** Parts of a response's head that its handler needs. */
export interface AnsweredHead extends Pick<ResponseHead, 'status' | 'reason' | 'headers'> {
  /** HTTP version of the response; `null` if unknown. */
  readonly version: HttpVersion | null;
}

/** Handles the events of a request: the head of its response, the body and the end, or a failure at any point. */
export interface ResponseHandler extends OfNetwork {
  /**
   * Takes the request out of the queue, with all that it holds, and returns why it has waited. `null` unless the request
   * waits for a connection. The handler must call it if its client leaves.
   */
  leaveQueue: (() => Error) | null;
  /** Called once the request has a connection. The request will be sent at the end of this turn of the event loop. */
  onReserved(): void;
  /**
   * Counts the request if it may still be sent. Afterwards, in the same tick, the usage journal is saved and
   * `sending` is called.
   *
   * @returns `false` if the request must not be sent. The caller then makes no more calls for this attempt
   */
  mayStillSend(): boolean;
  /**
   * Called right before the request is sent.
   *
   * @returns `false` if the request must not be sent after all. The handler has then undone the count
   */
  sending(inFlight: InFlightRequest): boolean;
  /**
   * Called for each Early Hints response (103, RFC 8297), before the final response.
   *
   * @param headers flat list of names and values
   */
  onEarlyHints(headers: readonly string[]): void;
  onHead(head: AnsweredHead): void;
  /**
   * Called for each part of the body. Returns `false` if the rest should wait for {@link InFlightRequest.resume}; until
   * then, or until the end of the response, the handler may use the bytes.
   *
   * @param isLent whether the bytes may change once this call has returned, and after the last part {@link onEnd}
   */
  onBody(chunk: Buffer, isLent: boolean): boolean;
  /** Called at the end of the response. @param trailers flat list of names and values */
  onEnd(trailers: readonly string[]): void;
  onFailure(error: Error): void;
  /** Called if no connection could be opened for the request: the upstream refuses connections, or is unreachable. */
  onRefused(error: Error): void;
  /**
   * Called if a safe request without a body was sent on a reused connection that ended before the first byte of the
   * response. The upstream has probably closed the connection because it was idle (RFC 9112 §9.3.1).
   *
   * @returns whether to send the request once more; if so, {@link onReserved} is called again
   */
  onUnanswered(): boolean;
}

/** Receives a connection's events. Implemented by the connection's slot in its pool. */
export interface ConnectionOwner {
  /** Called when the connection can take another request. */
  free(): void;
  /**
   * Sends a request on another connection, because the upstream ended this connection while it was idle or just as the
   * request was being written. Called after {@link gone}.
   */
  giveBack(request: OutgoingRequest, handler: ResponseHandler): void;
  /** Called when the connection has ended. */
  gone(): void;
}

/** A pooled connection to an upstream, which carries one request at a time. */
export interface PooledConnection {
  /** Milliseconds for which the upstream keeps an idle connection open; `null` if it does not say. */
  readonly keepAliveMs: number | null;
  /** Sends a request, at the end of this turn of the event loop or later. */
  send(request: OutgoingRequest, handler: ResponseHandler): void;
  /** Ends the connection, along with its request. */
  close(): void;
}

/** Options of a connection pool. */
export interface PoolOptions {
  /**
   * Opens a connection.
   *
   * @param done called once, possibly before this function returns
   * @returns a function that gives up; it calls `done` with an error if `done` has not been called yet
   */
  readonly connect: (owner: ConnectionOwner, done: (made: PooledConnection | Error) => void) => () => void;
  /** Maximum number of open connections. */
  readonly most: number;
  /** Parents' and tenants' shares of the connections. */
  readonly shares: Shares;
  /** Maximum number of milliseconds that a request waits for a connection. */
  readonly connectMs: number;
  /** Age in milliseconds, give or take half of it, at which a connection carries no further request. */
  readonly ageMs: number;
  readonly clock: Clock;
  /** If omitted, the machine's. */
  readonly timers?: AllTimers;
  /** Logs an exception that belongs to no exchange. */
  readonly report: (error: unknown) => void;
}
