import type { IncomingMessage } from 'node:http';

/** Requests whose client is waiting for `100 Continue` before it sends the body (RFC 9110 §10.1.1). */
const waiting = new WeakMap<IncomingMessage, () => void>();

/**
 * Holds `100 Continue` back until the gateway reads the body, so that a client need not send the body of a rejected
 * request. After a rejection the connection ends, because a server cannot tell whether the body will still come.
 *
 * @param send sends `100 Continue`, and reads the body
 */
export function noteContinue(request: IncomingMessage, send: () => void): void {
  waiting.set(request, send);
}

/** Sends `100 Continue` if the client is waiting for it. Call this right before the body is read. */
export function sendContinue(request: IncomingMessage): void {
  const send = waiting.get(request);
  waiting.delete(request);
  send?.();
}
