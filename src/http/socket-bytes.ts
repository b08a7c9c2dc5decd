import type { Socket } from 'node:net';
import { guardedOn } from './guarded.ts';

/** Number of bytes for which Node allocates memory when it reads from a socket. */
const readBytes = 64 * 1024;
/** Minimum number of bytes for which it pays to free memory early. Node's pool, which others share, is smaller. */
const leastFreed = 16 * 1024;

/** Bytes of memory that wait in a socket to be sent. TLS has an encrypted copy of them. */
export function unsentBytes(socket: Socket): number {
  return 'encrypted' in socket ? 2 * socket.writableLength : socket.writableLength;
}

/** Bytes of memory that wait in a paused socket, or soon will: Node reads once more after it has been paused. */
export function unreadBytes(socket: Socket): number {
  return socket.isPaused() ? Math.max(socket.readableLength, readBytes) : 0;
}

/**
 * Frees the memory of bytes that a socket has read, once no code reads them again. Node allocates up to 64 KB for a read
 * of a socket without a buffer. A long upload allocates so fast that V8 from Node 22 on would collect the whole heap
 * several times a second, only to free these buffers. Older versions of Node cannot free them early, nor need to.
 */
export function freeBytes(bytes: Buffer): void {
  const buffer = bytes.buffer as ArrayBuffer & { readonly transfer?: (length: number) => ArrayBuffer };
  if (bytes.length >= leastFreed && buffer.byteLength === bytes.length) buffer.transfer?.(0);
}

/** Writes bytes that the caller does not read again, and frees their memory once the socket has sent them. */
export function writeAndFree(socket: Socket, bytes: Buffer): void {
  const isLarge = bytes.length >= leastFreed;
  socket.write(bytes, isLarge ? guardedOn(socket, () => freeBytes(bytes)) : undefined);
}
