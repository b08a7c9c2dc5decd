import type { Socket } from 'node:net';

/** How long the other end may take to close its half. */
const closingMs = 1000;

/**
 * Ends a connection so that what was written last arrives: closing it while there are bytes nobody has read would make
 * the system take that back.
 */
export function hangUp(socket: Socket): void {
  if (socket.destroyed) return;
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), closingMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
