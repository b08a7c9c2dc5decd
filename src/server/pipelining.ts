import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { guardedAnswer, guardedConnection, guardedOn } from '../http/guarded.ts';
import { discardInput, readAfterParser } from '../http/hang-up.ts';

/**
 * Bytes that may wait behind a request before the gateway stops reading from their connection until the response is
 * out. Chunks of up to 64 KB that were read before may exceed this number. While fewer bytes wait, the gateway reads
 * on, and so notices when the client leaves.
 */
const mostWaitingBytes = 16 * 1024;

/** Returns the response that is being written to a connection. Only Node knows it, in this property. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Puts requests back before the rest of their connection. Node's parser then reads them again. */
export class UnreadRequests {
  readonly #server: Server;
  readonly #readRequests: (this: Server, socket: Socket) => void;

  /**
   * Makes each connection's parser stop behind the head of a request that comes before the last response is out, or
   * that offers an upgrade. Node emits `upgrade` or `connect` for both, with the bytes behind the head.
   *
   * Call it before other listeners for connections are added.
   */
  constructor(server: Server, secure: boolean) {
    const opened = secure ? 'secureConnection' : 'connection';
    this.#server = server;
    this.#readRequests = server.listeners(opened)[0] as (socket: Socket) => void;
    server.on(opened, guardedConnection(endReadingEarly));
  }

  /** Reads `bytes` and then the rest of a connection whose parser has stopped. */
  readAgain(socket: Socket, bytes: Buffer): void {
    // The last response may have set a timeout.
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(bytes);
    this.#readRequests.call(this.#server, socket);
    endReadingEarly(socket);
    socket.resume();
  }

  /**
   * Reads a pipelined request again when the response before it is out (RFC 9112 §9.3.2): a DELETE that was sent behind
   * a PUT must not overtake it. If the connection ends before that, the request is not served.
   *
   * The request waits as bytes, with all bytes behind it, because parsed requests take more memory, and the time limit
   * of an incomplete head would run while nothing is read. If {@link mostWaitingBytes} wait, the gateway notices that
   * the client has left only when it writes the response.
   */
  readAfterResponse(socket: Socket, head: Buffer): void {
    if (socket.destroyed) return;
    // The last response of the connection is out. A request behind it must not be acted on, because its client could
    // never learn of that.
    if (!socket.writable) return discardInput(socket);
    let bytes = head;
    const take = guardedOn(socket, (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      goOn();
    });
    const goOn = (): void => {
      if (bytes.length < mostWaitingBytes) socket.resume();
      else socket.pause();
    };
    const left = (): void => void socket.end();
    // Node has let go of the connection, and no longer tells the response that it can continue.
    const drained = guardedOn(socket, () => void responseOn(socket)?.emit('drain'));
    readAfterParser(socket);
    socket.on('data', take).on('end', left).on('drain', drained);
    goOn();
    const finished = (): void => {
      socket.off('data', take).off('end', left).off('drain', drained);
      if (socket.writable) this.readAgain(socket, bytes);
    };
    responseOn(socket)?.once('finish', guardedOn(socket, finished));
  }
}

/**
 * Whether a request cannot be served now, because another one on its connection comes first, or cannot be served at
 * all.
 */
export function mustWait(socket: Socket): boolean {
  return responseOn(socket) !== undefined || !socket.writable;
}

/**
 * Returns a request as bytes, from the values that Node has read and trimmed. So tabs around `chunked`, for which Node
 * rejects other requests, are white space here, as in RFC 9110 §5.6.3.
 *
 * @param without lower-case name of a header to leave out
 */
export function headBytes(
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  without?: string,
): Buffer {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.toLowerCase() !== without) text += `${name}: ${rawHeaders[i + 1]}\r\n`;
  }
  return Buffer.from(`${text}\r\n`, 'latin1');
}

/** Node's parser calls this function after each head. The result 2 makes it stop reading (llhttp). */
interface Parsing extends Socket {
  readonly parser?: { onIncoming: (request: IncomingMessage, keepAlive: boolean) => number } | null;
}

function endReadingEarly(socket: Parsing): void {
  const { parser } = socket;
  if (!parser) return;
  const { onIncoming } = parser;
  const incoming = (request: IncomingMessage, keepAlive: boolean): number => {
    if (mustWait(socket)) {
      // Makes Node emit `upgrade`, or drop the request and its connection if there is no listener.
      (request as { upgrade: boolean }).upgrade = true;
      return 2;
    }
    const answer = onIncoming(request, keepAlive);
    // Node 25 and later read the body of a request that offers an upgrade.
    return request.upgrade === true ? 2 : answer;
  };
  // After an exception Node reads nothing more.
  parser.onIncoming = guardedAnswer(socket, incoming, 2);
}
