import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { guardedOn } from './guarded.ts';

/**
 * Limits on the input that the gateway reads and discards after its last response: bytes, milliseconds without input,
 * and milliseconds in total. A client that sends its whole body before it reads can get the response only if the
 * gateway reads that body.
 */
export const mostDiscarded = { bytes: 64 * 1024 * 1024, silentMs: 5_000, ms: 30_000 } as const;

const hungUp = new WeakSet<Socket>();

/**
 * Ends a connection so that the peer still receives the last bytes (RFC 9112 §9.6). The gateway closes its own
 * direction, and reads until the peer closes the other one. If it closed both directions while bytes are unread, the
 * system would send a reset, and the peer could lose bytes that it has not read. A peer that keeps sending or falls
 * silent is cut off.
 *
 * @param most limits on the bytes, the milliseconds of silence, and the milliseconds in total
 */
export function hangUp(socket: Socket, most: typeof mostDiscarded = mostDiscarded): void {
  if (socket.destroyed || hungUp.has(socket)) return;
  hungUp.add(socket);
  socket.end();
  discardInput(socket, most.bytes);
  const cut = guardedOn(socket, () => void socket.destroy());
  socket.setTimeout(most.silentMs, cut);
  const timer = setTimeout(cut, most.ms).unref();
  const closed = (): void => clearTimeout(timer);
  socket.once('close', guardedOn(socket, closed));
}

/**
 * Discards up to `mostBytes` of further input, and cuts the connection if more comes. Node's parser gets none of the
 * input.
 */
export function discardInput(socket: Socket, mostBytes: number = mostDiscarded.bytes): void {
  let left = mostBytes;
  socket.removeAllListeners('data');
  const count = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  };
  socket.on('data', guardedOn(socket, count));
  readAfterParser(socket);
  socket.resume();
}

/**
 * Makes a connection readable after Node's parser has stopped reading from it. If the parser had paused the socket, the
 * socket still waits for a read by the parser, and `resume` alone does nothing. An empty chunk ends that wait.
 */
export function readAfterParser(socket: Socket): void {
  socket.push(Buffer.alloc(0));
}

/**
 * Cuts a response short. In HTTP/1.0 the end of the connection may mark the end of the body, so the connection is
 * reset. Otherwise the client could take the partial body for the whole.
 */
export function cutResponse(response: ServerResponse): void {
  const { socket, req } = response;
  const below = req.httpVersion === '1.0' && socket !== null ? tcpSocket(socket) : null;
  if (below) resetConnection(below);
  response.destroy();
}

/**
 * Ends a connection with a TCP reset, or destroys the connection if its end was already sent. libuv rejects a reset
 * during a shutdown (EINVAL), and Node would then leak the socket, so that the process could not end.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Returns the socket that can be reset. Node keeps the TCP socket below TLS in `_parent`. */
function tcpSocket(socket: Socket & { readonly _parent?: Socket | null }): Socket | null | undefined {
  return 'encrypted' in socket ? socket._parent : socket;
}
