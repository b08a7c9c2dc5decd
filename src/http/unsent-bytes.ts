import type { Socket } from 'node:net';

/** Bytes of memory that wait in a socket. TLS has an encrypted copy of them. */
export function unsentBytes(socket: Socket): number {
  return 'encrypted' in socket ? 2 * socket.writableLength : socket.writableLength;
}
