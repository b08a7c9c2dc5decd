import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { breakConnection } from '../http/guarded.ts';
import { hangUp, readAfterParser } from '../http/hang-up.ts';
import { headBytes, mustWait, UnreadRequests } from './pipelining.ts';

/** Takes over a connection for another protocol, or returns `false` and leaves the connection untouched. */
export type TakeUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => boolean;

/**
 * Serves the requests on a connection one at a time, each after the previous response has been sent.
 *
 * An application can take the upgrades it wants and ignore the rest (RFC 9110 §7.8). For example, it can ignore the
 * offer of HTTP/2 that Java's HttpClient and `curl --http2` send with every plain request.
 *
 * Node itself cannot ignore an offer safely. If it does not upgrade, it drops the rest of the packet after the request,
 * so the next packet may begin in the middle of a body. If it upgrades, it treats the body as the other protocol's
 * data. So the parser always stops after the head. If the application does not take an offer, the request is put back
 * at the front of the connection's input without its `Upgrade` header, and is read like any other request, with the
 * same framing checks.
 *
 * Call this before other connection listeners are added.
 */
export function serveOffers(server: Server, secure: boolean, take: TakeUpgrade): void {
  const unread = new UnreadRequests(server, secure);
  const serve = (request: IncomingMessage, stream: unknown, behind: Buffer): void => {
    const { socket } = request;
    // Depending on its version, Node may have read past the head. If so, it is unknown which bytes come next.
    if (stream !== socket || request.readableLength > 0) return void socket.destroy();
    if (mustWait(socket))
      return unread.readAfterResponse(socket, Buffer.concat([headBytes(request), behind]));
    socket.setTimeout(0);
    readAfterParser(socket);
    if (take(request, socket, behind)) return;
    if (request.method === 'CONNECT') return hangUp(socket);
    unread.readAgain(socket, Buffer.concat([headBytes(request, 'upgrade'), behind]));
  };
  for (const event of ['upgrade', 'connect'])
    server.on(event, (request: IncomingMessage, stream: unknown, behind: Buffer) => {
      try {
        serve(request, stream, behind);
      } catch (error) {
        breakConnection(request.socket, error);
      }
    });
}
