import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResponseHandler } from './connection.ts';
import type { OutgoingRequest } from './request-head.ts';

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
