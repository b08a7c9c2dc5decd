import type { IncomingMessage } from 'node:http';
import type { LimitsConfig } from '../config.ts';
import type { Problem } from '../domain/problem.ts';
import { systemTimers, type Intervals } from '../ports/timers.ts';
import { guardedOn } from './guarded.ts';
import { Patience } from './patience.ts';

/** Problem that a client gets if its body stops arriving. */
export const bodyStopped: Problem = {
  code: 'request_timeout',
  detail: 'The request body stopped coming, or came too slowly.',
};

/** Number of checks within the longest pause, and the longest time between two of them. */
const looks = 4;
const mostMs = 15_000;

/**
 * Watches a request's body until it has arrived in full.
 *
 * @param onStopped called once if the body stalls, between `bodyIdleMs` and 1.5 times that after the last byte, or if a
 * minute brings fewer than `minBodyBytesPerMinute`
 */
export function watchBody(
  request: IncomingMessage,
  { bodyIdleMs, minBodyBytesPerMinute }: Pick<LimitsConfig, 'bodyIdleMs' | 'minBodyBytesPerMinute'>,
  onStopped: () => void,
  intervals: Intervals = systemTimers,
): void {
  const { socket } = request;
  const patience = new Patience(bodyIdleMs, minBodyBytesPerMinute);
  const everyMs = Math.min(mostMs, bodyIdleMs / looks);
  let waitedMs = 0;
  const look = (): void => {
    if (request.complete || socket.destroyed) return stop();
    waitedMs += everyMs;
    if (!patience.isOver(true, socket.bytesRead, waitedMs)) return;
    stop();
    onStopped();
  };
  const stop = intervals.every(everyMs, guardedOn(socket, look));
  request.once('close', guardedOn(socket, stop));
}

/** Returns the number of bytes of a request's body (RFC 9112 §6.3); `undefined` for a chunked body. */
export function bodyLengthOf({ headers }: IncomingMessage): number | undefined {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
}
