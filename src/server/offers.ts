import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { hangUp, readAfterParser } from '../http/hang-up.ts';
import { headBytes, mustWait, UnreadRequests } from './pipelining.ts';

/** Takes a connection for another protocol. `false` where it does not: then it has not touched the connection. */
export type TakeUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => boolean;

/**
 * Serves the requests of a connection one after the other, each when the response before it is out.
 *
 * Lets an application take the upgrades it wants and ignore the others, as RFC 9110 §7.8 allows: Java's HttpClient and
 * `curl --http2` offer HTTP/2 with every plain request.
 *
 * Node cannot ignore one safely. Where it does not upgrade, it throws away the rest of the packet behind the request, so
 * that the next packet may begin in the middle of a body. Where it upgrades, it takes the body for the other protocol. So
 * it is always let end its reading at the head, and an offer that is not taken is put before the rest of the connection
 * again, without its `Upgrade`: from there it is read like any request, with the same checks of its framing.
 *
 * To be called before other listeners for connections are added.
 */
export function serveOffers(server: Server, secure: boolean, take: TakeUpgrade): void {
  const unread = new UnreadRequests(server, secure);
  const serve = (request: IncomingMessage, stream: unknown, behind: Buffer): void => {
    const { socket } = request;
    // This version of Node has read more than the head by itself: nothing is known about what follows.
    if (stream !== socket || request.readableLength > 0) return void socket.destroy();
    if (mustWait(socket))
      return unread.readAfterResponse(socket, Buffer.concat([headBytes(request), behind]));
    socket.setTimeout(0);
    readAfterParser(socket);
    if (take(request, socket, behind)) return;
    if (request.method === 'CONNECT') return hangUp(socket);
    unread.readAgain(socket, Buffer.concat([headBytes(request, 'upgrade'), behind]));
  };
  server.on('upgrade', serve);
  server.on('connect', serve);
}
