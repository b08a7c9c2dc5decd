import type { IncomingMessage, ServerResponse } from 'node:http';

/** Requests whose client waits to be told before it sends its body (RFC 9110 §10.1.1). */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Holds `100 Continue` back until the body is wanted: a rejection then costs no body at all. Node ends the connection
 * after one, since the client may still send its body or leave it, and which of the two cannot be told.
 */
export function noteContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** Tells the client to send its body, if it waits for that. To be called right before the body is read. */
export function sendContinue(request: IncomingMessage): void {
  const response = waiting.get(request);
  if (response === undefined) return;
  waiting.delete(request);
  if (!response.headersSent) response.writeContinue();
}
