import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Problem } from '../domain/problem.ts';
import { guardedOn } from './guarded.ts';
import { hangUp, mostDiscarded } from './hang-up.ts';

/** Problem that a client gets if its body stops arriving. */
export const bodyStopped: Problem = { code: 'request_timeout', detail: 'The request body stopped coming.' };

/** Number of checks within `silentMs`. */
const looks = 4;

/**
 * Watches a request's body until it has arrived in full.
 *
 * @param silentMs milliseconds without a byte after which the body counts as stalled
 * @param onSilent called once if the body stalls, between 1.25 and 1.5 times `silentMs` after the last byte
 */
export function watchBody(request: IncomingMessage, silentMs: number, onSilent: () => void): void {
  const { socket } = request;
  let [read, left] = [socket.bytesRead, looks];
  const look = (): void => {
    if (request.complete || socket.destroyed) return clearInterval(timer);
    left = socket.bytesRead === read ? left - 1 : looks;
    read = socket.bytesRead;
    if (left >= 0) return;
    clearInterval(timer);
    onSilent();
  };
  const timer = setInterval(guardedOn(socket, look), silentMs / looks).unref();
  const closed = (): void => clearInterval(timer);
  request.once('close', guardedOn(socket, closed));
}

/**
 * Limits how long a client may take to send the rest of a rejected body, and how long it may pause. The limits apply to
 * connections that stay open after the response. For connections that the gateway closes, {@link hangUp} has the same
 * time limits.
 */
export function boundRest(response: ServerResponse, most: typeof mostDiscarded = mostDiscarded): void {
  const { req: request } = response;
  if (!hasBody(request)) return;
  const { socket } = request;
  const finished = (): void => {
    if (request.complete) return;
    const end = guardedOn(socket, () => {
      if (!request.complete) hangUp(socket, most);
    });
    watchBody(request, most.silentMs, end);
    const timer = setTimeout(end, most.ms).unref();
    const closed = (): void => clearTimeout(timer);
    request.once('close', guardedOn(socket, closed));
  };
  response.once('finish', guardedOn(socket, finished));
}

/** Whether a request has a body (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
