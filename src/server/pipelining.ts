import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { guardedAnswer, guardedConnection, guardedOn } from '../http/guarded.ts';
import { discardInput, readAfterParser } from '../http/hang-up.ts';

/**
 * Number of bytes that may wait behind a request before the gateway stops reading from the connection until the
 * response is out. A chunk of up to 64 KB may exceed this number. While fewer bytes wait, the gateway reads on, and so
 * notices when the client leaves.
 */
const mostWaitingBytes = 16 * 1024;

/**
 * Returns the response that is being written to a connection. Only Node knows this response, in a property of its own.
 */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Puts requests back in front of the rest of their connection, so that Node's parser reads them again. */
export class UnreadRequests {
  readonly #server: Server;
  readonly #readRequests: (this: Server, socket: Socket) => void;

  /**
   * Makes each connection's parser stop behind the head of a request that offers an upgrade, or that arrives before the
   * previous response is out. Node emits `upgrade` or `connect` for both, with the bytes behind the head.
   *
   * Call it before other listeners for connections are added.
   */
  constructor(server: Server, secure: boolean) {
    const opened = secure ? 'secureConnection' : 'connection';
    this.#server = server;
    this.#readRequests = server.listeners(opened)[0] as (socket: Socket) => void;
    server.on(opened, guardedConnection(endReadingEarly));
  }

  /** Restarts the stopped parser of a connection: it reads `bytes`, then the rest of the connection. */
  readAgain(socket: Socket, bytes: Buffer): void {
    // The previous response may have set a timeout on the socket.
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(bytes);
    this.#readRequests.call(this.#server, socket);
    endReadingEarly(socket);
    socket.resume();
  }

  /**
   * Reads a pipelined request again when the response before it is out (RFC 9112 §9.3.2): a DELETE that was sent behind
   * a PUT must not overtake the PUT. If the connection ends before that, the request is not served.
   *
   * The request waits as bytes, with all bytes behind it. A parsed request would take more memory, and the time limit
   * for an incomplete head would run while nothing is read. Once {@link mostWaitingBytes} wait, the gateway notices
   * that the client has left only when it writes the response.
   */
  readAfterResponse(socket: Socket, head: Buffer): void {
    if (socket.destroyed) return;
    // The connection's last response is out. A request behind it must not be acted on, because its client could never
    // learn the outcome.
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
    // Node has stopped reading from this socket, and no longer tells the response that it may continue.
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
 * Whether a request cannot be served now, because an earlier one on its connection has no complete response, or can
 * never be served, because the connection takes no more bytes.
 */
export function mustWait(socket: Socket): boolean {
  return responseOn(socket) !== undefined || !socket.writable;
}

/**
 * Writes the head of a request as bytes again, from the values that Node has parsed and trimmed. So tabs around
 * `chunked` are accepted here as white space (RFC 9110 §5.6.3), although Node rejects them in other requests.
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

/** Node's parser calls `onIncoming` after each head. The result 2 makes the parser stop reading (llhttp). */
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
    // Node 25 and later would read the body of a request that offers an upgrade.
    return request.upgrade === true ? 2 : answer;
  };
  // If `incoming` throws, the result 2 makes Node stop reading.
  parser.onIncoming = guardedAnswer(socket, incoming, 2);
}
