import { ServerResponse, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { hangUp } from './half-close.ts';

/** Bytes that came in behind the heads of requests for an upgrade. */
const early = new WeakMap<IncomingMessage, Buffer>();

/**
 * Routes requests for an upgrade like any other, so that they meet the same judges in the same order. Whoever makes
 * the upgrade takes the connection from the response ({@link takeConnection}); any answer instead is the last one on it.
 */
export function routeUpgrades(server: Server, route: RequestListener): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node has taken its own away. The connection's end is seen by whoever uses it.
    socket.on('error', ignore);
    // Whoever wants to upgrade waits for the answers before (RFC 6455 §4.1); ours would go out amid one of them.
    if ((socket as Socket & { _httpMessage?: unknown })._httpMessage) return void socket.destroy();
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => hangUp(socket));
    early.set(request, head);
    route(request, response);
  });
}

/** Takes the connection of a request for an upgrade, and what came in on it already. Nothing can be answered after. */
export function takeConnection(response: ServerResponse): { readonly socket: Socket; readonly head: Buffer } {
  const { req, socket } = response;
  if (socket === null) throw new Error('the connection was taken already');
  response.detachSocket(socket);
  return { socket, head: early.get(req) ?? Buffer.alloc(0) };
}

function ignore(): void {
  /* See above. */
}
