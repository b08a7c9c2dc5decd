import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Shares } from '../../limits/shares.ts';
import type { Clock } from '../../ports/clock.ts';
import type { OutgoingRequest } from './message-head.ts';
import type { HttpVersion, ResponseHead } from './message-head.ts';

/** What sends the requests of one route to its upstream. */
export interface UpstreamClient {
  /** Sends one request, once. @param client the request as it came, and its response */
  send(request: OutgoingRequest, handler: ResponseHandler, client: ClientMessages): void;
  /** Ends all connections, together with the requests that are on them. */
  close(): void;
}

/** A request as Node parsed it, and the response to its client. */
export interface ClientMessages {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A request that is on a connection, as its handler sees it. */
export interface InFlightRequest {
  /**
   * A number that grows while there is progress: bytes that have gone out, and from the head of the response on also those
   * that have come in. Before, they do not count: an upstream could send interim responses for ever.
   */
  readonly progress: number;
  /** Reads on, after an `onBody` that returned `false`. */
  resume(): void;
  /** Ends the connection. The handler is not called again. */
  abort(): void;
}

/** The head of a response, as far as its handler is told. */
export interface AnsweredHead extends Pick<ResponseHead, 'status' | 'reason' | 'headers'> {
  /** `null` where the client that reads it does not say. */
  readonly version: HttpVersion | null;
}

/** Is told what becomes of a request: one head, its body, one end; or a failure, at any point. */
export interface ResponseHandler {
  /** It has a connection, and goes out at the end of this turn of the event loop. */
  onReserved(): void;
  /**
   * Asked before usage is written down, in the tick in which the request is written: counts it. `false` where it is not to be
   * sent after all; the handler is not called again then.
   */
  onHandOver(): boolean;
  /** Asked right before the request is written. `false` as above; then it is not counted after all. */
  onSending(inFlight: InFlightRequest): boolean;
  /** Before the head: a 103 (RFC 8297), any number of times. @param headers flat list of names and values */
  onEarlyHints(headers: readonly string[]): void;
  onHead(head: AnsweredHead): void;
  /** `false` where the rest should wait for {@link InFlightRequest.resume}. The bytes are the handler's to keep. */
  onBody(chunk: Buffer): boolean;
  /** @param trailers flat list of names and values */
  onEnd(trailers: readonly string[]): void;
  onFailure(error: Error): void;
  /** No connection could be made for it: the upstream refuses, or cannot be reached. */
  onRefused(error: Error): void;
}

/** What a connection tells the pool that owns it. */
export interface ConnectionOwner<Handler = never> {
  /** It can take another request. */
  free(): void;
  /** Nothing was written of this request, which needs another connection. It comes after {@link gone}. */
  giveBack(request: OutgoingRequest, handler: Handler): void;
  /** It has ended. */
  gone(): void;
}

/** Carries one request at a time to an upstream. */
export interface PooledConnection<Handler> {
  /** How long the upstream keeps it open while idle, milliseconds; `null` where it does not say. */
  readonly keepAliveMs: number | null;
  /** Sends a request, at the end of this turn of the event loop or later. */
  send(request: OutgoingRequest, handler: Handler): void;
  /** Ends it, together with the request that is on it. */
  close(): void;
}

/** How connections are made, how many, and for whom. */
export interface PoolOptions<Handler> {
  /**
   * Makes a connection.
   *
   * @param done called once, perhaps at once
   * @returns how to give up, which calls `done` as well
   */
  readonly connect: (
    owner: ConnectionOwner<Handler>,
    done: (made: PooledConnection<Handler> | Error) => void,
  ) => () => void;
  /** Connections open at once. */
  readonly most: number;
  /** Of the tenants, in them. */
  readonly shares: Shares;
  /** Milliseconds that a request waits for a connection. */
  readonly connectMs: number;
  readonly clock: Clock;
}
