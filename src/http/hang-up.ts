import type { Socket } from 'node:net';
import { systemTimers } from '../ports/timers.ts';
import { guardedOn } from './guarded.ts';
import { freeBytes } from './socket-bytes.ts';
import { restsAfter, type OfNetwork } from './turn.ts';

/**
 * Limits on how much the gateway reads and discards after its last response: bytes, milliseconds without input, and
 * milliseconds in total. Discarding is necessary because some clients read the response only after sending their whole
 * body.
 */
export const mostDiscarded = { bytes: 64 * 1024 * 1024, silentMs: 5_000, ms: 30_000 } as const;

const hungUp = new WeakSet<Socket>();

/**
 * Closes a connection in a way that still delivers the last bytes to the peer (RFC 9112 §9.6). The gateway stops
 * sending, but reads until the peer stops sending too. If the gateway closed the connection with input unread, the
 * operating system would send a reset. The peer could then lose data it had not read yet. A peer that keeps sending or
 * goes idle is cut off.
 *
 * @param of whose turns what is discarded takes, and what counts while it waits
 * @param most limits on the bytes, the idle milliseconds, and the milliseconds in total
 */
export function hangUp(socket: Socket, of: OfNetwork & { countHeld(): void }, most = mostDiscarded): void {
  if (socket.destroyed || hungUp.has(socket)) return;
  hungUp.add(socket);
  socket.end();
  let left = most.bytes;
  socket.removeAllListeners('data');
  const goOn = guardedOn(socket, () => void (socket.resume(), of.countHeld()));
  const discard = (chunk: Buffer): void => {
    const { length } = chunk;
    left -= length;
    freeBytes(chunk);
    if (left < 0) return void socket.destroy();
    if (!restsAfter(length, goOn, of)) return;
    socket.pause();
    of.countHeld();
  };
  socket.on('data', guardedOn(socket, discard));
  socket.resume();
  const cut = guardedOn(socket, () => void socket.destroy());
  socket.setTimeout(most.silentMs, cut);
  socket.once('close', guardedOn(socket, systemTimers.after(most.ms, cut)));
}

/** The part of Node's handle of a connection that a reset needs. A TLS connection's handle has a TCP handle below it. */
interface Handle {
  readonly _parent?: Handle;
  reset?(done: () => void): number;
  close(done: () => void): void;
}

/**
 * Ends a connection with a TCP reset, so that the operating system drops the bytes that it holds for the peer. If the
 * gateway has already closed its own direction, destroys the connection instead: libuv would reject a reset (EINVAL),
 * and Node would leak the socket and never exit. What has been read of it, and waits in it, is lost.
 */
export function resetConnection(socket: Socket): void {
  resetOnceDestroyed(socket);
  socket.removeAllListeners('data');
  const unread = socket.read(socket.readableLength) as Buffer | null;
  if (unread !== null) freeBytes(unread);
  socket.destroy();
}

/** Makes the end of a connection a reset, see {@link resetConnection}, no matter which code ends it. */
export function resetOnceDestroyed(socket: Socket): void {
  const { _handle: handle } = socket as { readonly _handle?: Handle | null };
  const tcp = handle?._parent ?? handle;
  if (!socket.writableEnded && tcp?.reset) tcp.close = tcp.reset.bind(tcp);
}
