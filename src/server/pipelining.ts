import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { guardedAnswer, guardedConnection, guardedOn } from '../http/guarded.ts';
import { discardInput, readAfterParser } from '../http/hang-up.ts';

/**
 * If this many bytes are waiting behind a request, the gateway stops reading from the connection. Reading resumes once
 * the response has been sent. Bytes arrive in chunks of up to 64 KB, so more bytes may be waiting. While fewer bytes
 * are waiting, the gateway keeps reading, so it notices when the client disconnects.
 */
const mostWaitingBytes = 16 * 1024;

/** Returns the response being written to a connection. Node keeps it only in an internal property. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Puts requests back at the front of their connection's input, so that Node's parser reads them again. */
export class UnreadRequests {
  readonly #server: Server;
  readonly #readRequests: (this: Server, socket: Socket) => void;

  /**
   * Makes each connection's parser stop after the head of certain requests: those that offer an upgrade, and those that
   * arrive before the previous response has been sent. Node then emits `upgrade` or `connect`, with the bytes after the
   * head.
   *
   * Create the instance before other connection listeners are added.
   */
  constructor(server: Server, secure: boolean) {
    const opened = secure ? 'secureConnection' : 'connection';
    this.#server = server;
    this.#readRequests = server.listeners(opened)[0] as (socket: Socket) => void;
    server.on(opened, guardedConnection(endReadingEarly));
  }

  /** Restarts a connection's stopped parser, which reads `bytes` first and then the rest of the input. */
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
   * Waits until the previous response has been sent, then reads a pipelined request again (RFC 9112 §9.3.2). A DELETE
   * sent after a PUT must not overtake the PUT. If the connection ends during the wait, the request is not served.
   *
   * The request waits as raw bytes, along with all the bytes after it. A parsed request would take more memory. A
   * parser that waits in the middle of a head would run into the time limit for heads. While {@link mostWaitingBytes}
   * or more are waiting, the gateway does not read. It then notices that the client has disconnected only when it
   * writes the response.
   */
  readAfterResponse(socket: Socket, head: Buffer): void {
    if (socket.destroyed) return;
    // If the socket is not writable, the connection's last response has been sent. A later request must not be acted
    // on, because the client could never learn the outcome.
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
    // Node's HTTP server no longer handles this socket, so it does not pass `drain` on to the response.
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
 * Returns `true` if a new request on a connection must not be served now: an earlier response is incomplete, or the
 * connection is no longer writable.
 */
export function mustWait(socket: Socket): boolean {
  return responseOn(socket) !== undefined || !socket.writable;
}

/**
 * Rebuilds the bytes of a request's head from the names and values that Node has parsed.
 *
 * Node rejects a request with tabs around `chunked`, although RFC 9110 §5.6.3 allows them. A rebuilt head has no such
 * tabs, because Node has trimmed the values. So a request is served despite its tabs if its head was rebuilt.
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

/** Node's parser calls `onIncoming` after each head. A return value of 2 makes the parser (llhttp) stop reading. */
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
    // Returning 2 keeps Node 25 and later from reading the body of a request that offers an upgrade.
    return request.upgrade === true ? 2 : answer;
  };
  // If `incoming` throws, returning 2 makes Node stop reading.
  parser.onIncoming = guardedAnswer(socket, incoming, 2);
}
