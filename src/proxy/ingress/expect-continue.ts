import type { IncomingMessage, ServerResponse } from 'node:http';

/** Requests whose client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1). */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Holds `100 Continue` back until the body is read, so that no body is sent with a rejected request. Node closes the
 * connection after such a rejection: the client may or may not send the body then, and the gateway cannot tell.
 */
export function noteContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** Tells the client to send its body, if it waits for that. Call it right before the body is read. */
export function sendContinue(request: IncomingMessage): void {
  const response = waiting.get(request);
  if (response === undefined) return;
  waiting.delete(request);
  if (!response.headersSent) response.writeContinue();
}
