import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { hangUp } from './half-close.ts';

/** Bytes that came in right after the head of a request for an upgrade. */
const early = new WeakMap<IncomingMessage, Buffer>();

/**
 * Makes a response for a request for an upgrade, so that it meets the same checks as any request, in the same order. The
 * code that carries out the upgrade takes the connection from the response ({@link takeConnection}); any other response
 * is the last one on its connection.
 *
 * @returns `undefined` where the connection had to be cut
 */
export function upgradeResponse(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): ServerResponse | undefined {
  // Node has removed its own listener, and an `error` without one would end the process. Users of the socket listen for
  // `close`.
  socket.on('error', ignore);
  // A client must wait for earlier responses before it upgrades (RFC 6455 §4.1). This one did not, and our response would
  // go out in the middle of an earlier one.
  if ((socket as Socket & { _httpMessage?: unknown })._httpMessage) {
    socket.destroy();
    return undefined;
  }
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => hangUp(socket));
  early.set(request, head);
  return response;
}

/** Takes the connection of a request for an upgrade, and the bytes that came in already. Ends the use of `response`. */
export function takeConnection(response: ServerResponse): { readonly socket: Socket; readonly head: Buffer } {
  const { req, socket } = response;
  if (socket === null) throw new Error('the connection was taken already');
  response.detachSocket(socket);
  return { socket, head: early.get(req) ?? Buffer.alloc(0) };
}

function ignore(): void {
  /* The socket closes, which its users see. */
}
