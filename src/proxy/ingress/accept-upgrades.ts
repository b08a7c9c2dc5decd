import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { hangUp } from './half-close.ts';

/** Bytes that came in behind the heads of requests for an upgrade. */
const early = new WeakMap<IncomingMessage, Buffer>();

/**
 * Makes a response for a request for an upgrade, so that it goes the way of every request and meets the same checks in
 * the same order. What makes the upgrade takes the connection from the response ({@link takeConnection}); any other
 * response is the last one on it.
 *
 * @returns `undefined` where the connection had to be cut
 */
export function upgradeResponse(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): ServerResponse | undefined {
  // Node has taken its own listener away. The connection's end is seen by what uses it.
  socket.on('error', ignore);
  // A client that wants to upgrade waits for the responses before (RFC 6455 §4.1); ours would go out amid one of them.
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

/** Takes the connection of a request for an upgrade, and what came in on it already. There can be no response after. */
export function takeConnection(response: ServerResponse): { readonly socket: Socket; readonly head: Buffer } {
  const { req, socket } = response;
  if (socket === null) throw new Error('the connection was taken already');
  response.detachSocket(socket);
  return { socket, head: early.get(req) ?? Buffer.alloc(0) };
}

function ignore(): void {
  /* See above. */
}
