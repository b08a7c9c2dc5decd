import type { Socket } from 'node:net';

/** How long the other end may take to close its direction, milliseconds. */
const closingMs = 1000;

/**
 * Ends a connection so that what was written last arrives: if the gateway closed it while unread bytes are waiting, the
 * system would send a reset, and the other end could lose what it has not read yet.
 */
export function hangUp(socket: Socket): void {
  if (socket.destroyed) return;
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), closingMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
