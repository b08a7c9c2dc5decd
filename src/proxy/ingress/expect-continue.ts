import type { IncomingMessage, ServerResponse } from 'node:http';

/** Responses to requests whose client is waiting for `100 Continue` before it sends the body (RFC 9110 §10.1.1). */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Holds `100 Continue` back until the gateway reads the body, so that a client need not send the body of a rejected
 * request. After the rejection Node closes the connection, because a server cannot tell whether the body will still
 * come.
 */
export function noteContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** Sends `100 Continue` if the client is waiting for it. Call this right before the body is read. */
export function sendContinue(request: IncomingMessage): void {
  const response = waiting.get(request);
  if (response === undefined) return;
  waiting.delete(request);
  if (!response.headersSent) response.writeContinue();
}
