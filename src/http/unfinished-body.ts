import type { IncomingMessage } from 'node:http';
import type { Problem } from '../domain/problem.ts';
import { systemTimers, type Intervals } from '../ports/timers.ts';
import { guardedOn } from './guarded.ts';

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
export function watchBody(
  request: IncomingMessage,
  silentMs: number,
  onSilent: () => void,
  intervals: Intervals = systemTimers,
): void {
  const { socket } = request;
  let [read, left] = [socket.bytesRead, looks];
  const look = (): void => {
    if (request.complete || socket.destroyed) return stop();
    left = socket.bytesRead === read ? left - 1 : looks;
    read = socket.bytesRead;
    if (left >= 0) return;
    stop();
    onSilent();
  };
  const stop = intervals.every(silentMs / looks, guardedOn(socket, look));
  request.once('close', guardedOn(socket, stop));
}

/** Whether a request has a body (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
