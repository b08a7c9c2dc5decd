import type { ClientRequest, ClientResponse } from '../http/client-request.ts';
import { guarded } from '../http/guarded.ts';
import { resetConnection } from '../http/hang-up.ts';
import { writeChunk } from '../http1/chunked-body.ts';
import { writeFieldLines } from '../http1/fields.ts';
import type { RequestHead } from '../http1/request-head.ts';
import type { ServingConnection } from './served.ts';

const unsafe = /[^\t\x20-\x7e\x80-\xff]/;

/** The response to a request on a client's connection. */
export class ServedResponse implements ClientResponse {
  readonly request: ClientRequest;
  status = 0;
  last: boolean;
  /** Whether the client waits for `100 Continue`, which has not been sent. */
  continues: boolean;
  isBegun = false;
  isEnded = false;
  onClose: ((isWhole: boolean) => void) | null = null;
  onDrain: (() => void) | null = null;
  readonly #connection: ServingConnection;
  readonly #isCurrent: boolean;
  #isChunked = false;
  #isWrittenByNode = false;
  #awaitsDrain = false;
  #isOver = false;

  constructor(connection: ServingConnection, request: ClientRequest, head: RequestHead) {
    this.#connection = connection;
    this.request = request;
    this.last = !head.keepAlive;
    this.continues = head.expectsContinue && head.bodyLength !== 0;
    this.#isCurrent = head.version !== '1.0';
  }

  /**
   * Whether bytes wait for the client that no exchange watches: those of a whole response, or of one that Node writes.
   */
  get waitsForClient(): boolean {
    return this.unsentBytes > 0 && (this.isEnded || this.#isWrittenByNode);
  }

  /** Whether a response is under way whose bytes are written as they come. */
  get isStream(): boolean {
    return this.isBegun && !this.isEnded && !this.#isWrittenByNode;
  }

  get unsentBytes(): number {
    return this.#connection.socket.writableLength;
  }

  /** Sends `100 Continue` if the client waits for it (RFC 9110 §10.1.1). */
  continue(): void {
    if (this.continues && !this.isBegun)
      this.#connection.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
    this.continues = false;
  }

  writeEarlyHints(headers: readonly string[]): void {
    if (!this.#isCurrent || this.isBegun || this.#isOver) return;
    this.#connection.socket.write(`HTTP/1.1 103 Early Hints\r\n${writeFieldLines(headers)}\r\n`, 'latin1');
  }

  send(
    status: number,
    reason: string,
    headers: readonly string[],
    length: number | undefined,
    body: string | Buffer,
  ): void {
    const head = this.#head(status, reason, headers, length);
    if (this.#isOver) return;
    const { socket, served } = this.#connection;
    if (!this.#hasBody(status)) socket.write(head, 'latin1');
    else if (typeof body === 'string') socket.write(head + body, 'latin1');
    else served.sendBuffer.send(socket, head, body);
    this.isEnded = true;
    this.#connection.responded();
  }

  begin(status: number, reason: string, headers: readonly string[], length: number | undefined): void {
    const hasBody = this.#hasBody(status);
    this.#isChunked = length === undefined && hasBody && this.#isCurrent;
    // Without chunks, the end of the connection is the end of the body.
    if (length === undefined && hasBody && !this.#isCurrent) this.last = true;
    const head = this.#head(status, reason, headers, length);
    if (!this.#isOver) this.#connection.socket.write(head, 'latin1');
  }

  write(chunk: Buffer, isLent: boolean): boolean {
    const { socket } = this.#connection;
    if (this.#isOver || socket.destroyed || chunk.length === 0 || !this.#hasBody(this.status)) return true;
    if (this.#isChunked) writeChunk(socket, chunk, isLent);
    else socket.write(isLent ? Buffer.from(chunk) : chunk);
    if (socket.writableLength === 0) return true;
    this.#connection.countHeld();
    this.#awaitDrain();
    return false;
  }

  /** Waits until the operating system has taken all bytes. The socket's own `drain` may not come for few bytes. */
  #awaitDrain(): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    const { socket } = this.#connection;
    const written = guarded(this.#connection, (error?: Error | null) => {
      this.#awaitsDrain = false;
      if (this.#isOver || error || socket.destroyed) return;
      if (socket.writableLength > 0) this.#awaitDrain();
      else this.onDrain?.();
      this.#connection.countHeld();
    });
    socket.write('', 'latin1', written);
  }

  end(trailers: readonly string[] = []): void {
    if (this.#isOver) return;
    if (this.#isChunked) this.#connection.socket.write(`0\r\n${writeFieldLines(trailers)}\r\n`, 'latin1');
    this.isEnded = true;
    this.#connection.responded();
  }

  /** Sends bytes of a response that Node writes, from its status line on. */
  writeBytes(bytes: Buffer, status: number, done?: (error?: Error | null) => void): void {
    this.isBegun = true;
    this.#isWrittenByNode = true;
    this.status = status;
    const { socket } = this.#connection;
    socket.write(bytes, done);
    if (socket.writableLength > 0) this.#connection.countHeld();
  }

  /** Notes that all of such a response has been written. */
  noteEnded(): void {
    if (this.#isOver) return;
    this.isEnded = true;
    this.#connection.responded();
  }

  cut(resets = false): void {
    const { socket } = this.#connection;
    // In HTTP/1.0, a normal end of the connection may mark the end of the body, so the connection is reset.
    if (resets || !this.#isCurrent) resetConnection(socket);
    else socket.destroy();
  }

  /** Called once the response is over. Only the first call has an effect. */
  close(isWhole: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onClose?.(isWhole);
  }

  #hasBody(status: number): boolean {
    return status !== 204 && status !== 304 && this.request.method !== 'HEAD';
  }

  #head(status: number, reason: string, headers: readonly string[], length: number | undefined): string {
    if (this.isBegun) throw new Error('the response has begun already');
    if (unsafe.test(reason)) throw new Error('a reason phrase that is not one line');
    let text = `HTTP/1.1 ${status} ${reason}\r\n${writeFieldLines(headers)}`;
    if (length !== undefined) text += `Content-Length: ${length}\r\n`;
    else if (this.#isChunked) text += 'Transfer-Encoding: chunked\r\n';
    // A client that was not told to continue may send its body or not, so its next request may begin anywhere.
    if (this.continues || this.#connection.leavesNow) this.last = true;
    this.isBegun = true;
    this.status = status;
    return `${text}${dateLine(headers)}${this.#connectionLines(status)}\r\n`;
  }

  #connectionLines(status: number): string {
    // Every response with `Upgrade` must have this option (RFC 9110 §7.8).
    if (status === upgradeRequired)
      return this.last ? 'Connection: close, Upgrade\r\n' : 'Connection: Upgrade\r\n';
    if (this.last) return 'Connection: close\r\n';
    return `Connection: keep-alive\r\n${this.#connection.served.keepAliveLine}`;
  }
}

/** Status of a response that must have `Upgrade` (RFC 9110 §15.5.22). */
const upgradeRequired = 426;

/** Returns the line of `Date` (RFC 9110 §6.6.1), or nothing if the headers have one. */
function dateLine(headers: readonly string[]): string {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'date') return '';
  }
  const second = Math.floor(Date.now() / 1000);
  if (second !== dated) {
    dated = second;
    date = `Date: ${new Date(second * 1000).toUTCString()}\r\n`;
  }
  return date;
}

let dated = 0;
let date = '';
