import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * How much the gateway reads and throws away, and for how long, of a client whose last response is out. A client that
 * sends its whole body before it reads gets the response to a large upload only if the gateway reads that upload.
 */
export const mostDiscarded = { bytes: 64 * 1024 * 1024, silentMs: 5_000, ms: 30_000 } as const;

const hungUp = new WeakSet<Socket>();

/**
 * Ends a connection so that what was written last arrives (RFC 9112 §9.6): it closes the gateway's direction, and reads
 * until the other end closes its own. If the gateway closed both while unread bytes are waiting, the system would send a
 * reset, and the other end could lose what it has not read yet. A peer that keeps sending, or stops, is cut.
 *
 * @param most bytes, and milliseconds of silence and in all
 */
export function hangUp(socket: Socket, most: typeof mostDiscarded = mostDiscarded): void {
  if (socket.destroyed || hungUp.has(socket)) return;
  hungUp.add(socket);
  socket.end();
  discardInput(socket, most.bytes);
  const cut = (): void => void socket.destroy();
  socket.setTimeout(most.silentMs, cut);
  const timer = setTimeout(cut, most.ms).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Throws away what comes in from now on, up to `mostBytes`; then it cuts the connection. Node's parser gets nothing of it. */
export function discardInput(socket: Socket, mostBytes: number = mostDiscarded.bytes): void {
  let left = mostBytes;
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  });
  readAfterParser(socket);
  socket.resume();
}

/**
 * Lets a connection be read that Node's parser no longer reads from. While the parser did, the socket waited for a read
 * that never came, so where the parser had paused it `resume` alone would do nothing. An empty piece ends that wait.
 */
export function readAfterParser(socket: Socket): void {
  socket.push(Buffer.alloc(0));
}

/**
 * Cuts a response. To a client of HTTP/1.0 the end of the connection may be the end of the body, so its connection is
 * reset: the client must not take what it has for the whole.
 */
export function cutResponse(response: ServerResponse): void {
  const { socket, req } = response;
  const below = req.httpVersion === '1.0' && socket !== null ? tcpSocket(socket) : null;
  if (below) resetConnection(below);
  response.destroy();
}

/**
 * Ends a connection with a TCP reset; one that was ended already is only closed. libuv takes no reset (EINVAL) while
 * it shuts a connection down, and Node then keeps that socket for ever: its descriptor is lost, and the process cannot end.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** What can be reset: with TLS the socket below, which Node keeps here. */
function tcpSocket(socket: Socket & { readonly _parent?: Socket | null }): Socket | null | undefined {
  return 'encrypted' in socket ? socket._parent : socket;
}
