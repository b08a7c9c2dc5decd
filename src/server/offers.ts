import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { discardInput, hangUp, readAfterParser } from '../http/hang-up.ts';
import { responseOn } from './pipelining.ts';

/** Takes a connection for another protocol. `false` where it does not: then it has not touched the connection. */
export type TakeUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => boolean;

/** The function with which Node begins to read requests from a connection. */
type ReadRequests = (this: Server, socket: Socket) => void;

/**
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
  const opened = secure ? 'secureConnection' : 'connection';
  const readRequests = server.listeners(opened)[0] as ReadRequests;
  if (readsBodies) server.on(opened, endReadingAtOffers);

  const serve = (request: IncomingMessage, stream: unknown, head: Buffer): void => {
    const { socket } = request;
    // This version of Node has read more than the head by itself: nothing is known about what follows.
    if (stream !== socket || request.readableLength > 0) return void socket.destroy();
    afterResponses(socket, () => {
      // The last response before may have set it.
      socket.setTimeout(0);
      readAfterParser(socket);
      if (take(request, socket, head)) return;
      if (request.method === 'CONNECT') return hangUp(socket);
      socket.unshift(Buffer.concat([headWithoutOffer(request), head]));
      readRequests.call(server, socket);
      if (readsBodies) endReadingAtOffers(socket);
      socket.resume();
    });
  };
  server.on('upgrade', serve);
  server.on('connect', serve);
}

/**
 * The values are as Node trimmed them. So tabs around `chunked`, for which it rejects other requests, are white space here,
 * as RFC 9110 §5.6.3 has it: the body is read, and passed on, as chunks.
 */
function headWithoutOffer({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.toLowerCase() !== 'upgrade') text += `${name}: ${rawHeaders[i + 1]}\r\n`;
  }
  return Buffer.from(`${text}\r\n`, 'latin1');
}

/** Calls `then` when the requests before have their responses; not if the connection ends with one of them. */
function afterResponses(socket: Socket, then: () => void): void {
  if (socket.destroyed) return;
  // The gateway has closed its direction with the response before, which must still arrive.
  if (!socket.writable) return discardInput(socket);
  if (responseOn(socket) === undefined) return then();
  // Node no longer reads from the connection, and no longer tells its responses that they can go on.
  socket.pause();
  const drained = (): void => void responseOn(socket)?.emit('drain');
  const next = (): void => {
    const response = responseOn(socket);
    if (response !== undefined) return void response.once('finish', next);
    socket.off('drain', drained);
    if (socket.writable) then();
  };
  socket.on('drain', drained);
  next();
}

/** From this version on Node reads the body of a request that offers an upgrade. */
const readsBodies = Number(process.versions.node.split('.')[0]) >= 25;

/** Node's parser asks this function, for each head, what to do with what follows; 2 ends its reading (llhttp). */
interface Parsing extends Socket {
  readonly parser?: { onIncoming: (request: IncomingMessage, keepAlive: boolean) => number } | null;
}

function endReadingAtOffers({ parser }: Parsing): void {
  if (!parser) return;
  const { onIncoming } = parser;
  parser.onIncoming = (request, keepAlive) => {
    const answer = onIncoming(request, keepAlive);
    return request.upgrade === true ? 2 : answer;
  };
}
