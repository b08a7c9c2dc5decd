import type { Socket } from 'node:net';
import { methodKind } from '../../domain/acting-decision.ts';
import { Fault, guarded, guardMethods, type Breakable } from '../../http/guarded.ts';
import { resetOnceDestroyed } from '../../http/hang-up.ts';
import { unsentBytes } from '../../http/socket-bytes.ts';
import { MessageFault } from '../../http1/message-fault.ts';
import { outliveFailedWrite, resetBehindEnd } from './failed-write.ts';
import type { ConnectionParts, Departing, Leaving } from './hand-overs.ts';
import type { ReadBuffer } from './read-buffers.ts';
import { ResponseParser, type ResponseEvents } from './response-parser.ts';
import { writeChunk } from '../../http1/chunked-body.ts';
import { restsAfter, pieceWork } from '../../http/turn.ts';
import { latin1 } from '../../http1/fields.ts';
import { requestHead, type BodySink, type BodySource } from './message-head.ts';
import type { OutgoingRequest, ResponseHead } from './message-head.ts';
import type { ConnectionOwner, InFlightRequest, ResponseHandler } from './upstream-client.ts';

/**
 * If a socket has this many unsent bytes, reading from the other side pauses. The result of `write` is no help: it is
 * `false` for every large piece, even if the operating system took the piece at once.
 */
export const mostUnsentBytes = 64 * 1024;

/** Work of a response in a turn that it has waited for, in bytes. */
const mostInARow = 1024 * 1024;

/** Maximum size of a body whose write cannot fail halfway, because the operating system takes that much at once. */
const smallBytes = 16 * 1024;

/** One connection to an upstream, with one request at a time. It is closed after any request that did not end well. */
export class Connection implements InFlightRequest, BodySink, ResponseEvents, Departing, Breakable {
  readonly #socket: Socket;
  readonly #reading: ReadBuffer;
  readonly #owner: ConnectionOwner;
  readonly #parts: ConnectionParts;
  readonly #parser = new ResponseParser(this);
  #leaving: Leaving | null = null;
  #handler: ResponseHandler | null = null;
  #body: BodySource | null = null;
  #sent = true;
  #paused = false;
  #gone = false;
  /** Whether nothing is read until a later turn of the event loop. */
  #rests = false;
  #outlivesFailedWrite = false;
  /** Safe request without a body on a reused connection, until the first byte of its response. It may be sent again. */
  #unanswered: OutgoingRequest | null = null;
  #writeError: NodeJS.ErrnoException | null = null;

  /** @param reading buffer that the socket reads into */
  constructor(socket: Socket, reading: ReadBuffer, parts: ConnectionParts) {
    this.#socket = socket;
    this.#reading = reading;
    this.#owner = parts.owner;
    this.#parts = parts;
    reading.reader = this;
    const on = (event: string, listener: (error: Error) => void): void =>
      void socket.on(event, guarded(this, listener));
    on('drain', () => this.#body?.resume());
    socket.prependListener(
      'end',
      guarded(this, () => this.#onFin()),
    );
    on('error', (error) => this.#fail(error));
    on('close', () => {
      // The client may still be taking the bytes of the latest read.
      reading.letGo(true);
      this.#fail(new Error('the upstream closed the connection'));
    });
  }

  /** Milliseconds for which the upstream keeps an idle connection open; `null` if it does not say. */
  get keepAliveMs(): number | null {
    return this.#parser.head?.keepAliveMs ?? null;
  }

  get progress(): number {
    const sent = this.#socket.bytesWritten - this.#socket.writableLength;
    return this.#parser.head === null ? sent : sent + this.#socket.bytesRead;
  }

  get heldBytes(): number {
    return unsentBytes(this.#socket) + (this.#paused ? this.#reading.unusedBytes : 0);
  }

  send(request: OutgoingRequest, handler: ResponseHandler): void {
    handler.onReserved();
    this.#leaving = { request, handler, text: '' };
    this.#parts.handOvers.enter(this);
  }

  mayStillSend(): boolean {
    // The connection has ended since the request was assigned to it.
    if (this.#leaving === null) return false;
    const { request, handler } = this.#leaving;
    const { body } = request;
    this.#leaving.text = requestHead(request, this.#parts.host);
    // Writing head and body in one piece takes a single system call.
    if (Buffer.isBuffer(body)) this.#leaving.text += latin1(body, 0, body.length);
    if (handler.mayStillSend()) return true;
    this.#leaving = null;
    this.#owner.free();
    return false;
  }

  depart(): void {
    if (this.#leaving === null) return;
    const { request, handler, text } = this.#leaving;
    this.#leaving = null;
    // This is the last check. If the process is suspended between this check and the write, the decision may be
    // outdated by the time of the write.
    if (!handler.sending(this)) return this.#owner.free();
    const { body, method } = request;
    this.#handler = handler;
    const isReused = this.#parser.head !== null;
    this.#unanswered = isReused && body === null && methodKind(method) === 'read' ? request : null;
    this.#parser.begin(method === 'HEAD');
    if (body === null) {
      this.#socket.write(text, 'latin1');
    } else if (Buffer.isBuffer(body)) {
      if (body.length > smallBytes) this.#outliveFailedWrite();
      this.#socket.write(text, 'latin1');
    } else {
      this.#outliveFailedWrite();
      this.#sent = false;
      this.#body = body;
      this.#socket.write(text, 'latin1');
      body.start(this);
    }
  }

  write(chunk: Buffer): boolean {
    if (this.#gone || chunk.length === 0) return true;
    // The connection takes no more bytes. The rest of the upload waits until the exchange ends.
    if (this.#writeError !== null) return false;
    if (this.#body?.length !== undefined) {
      this.#socket.write(chunk);
    } else {
      writeChunk(this.#socket, chunk, false);
    }
    return this.#socket.writableLength < mostUnsentBytes;
  }

  get hasSentAll(): boolean {
    return this.#socket.writableLength === 0;
  }

  end(): void {
    if (this.#gone || this.#body === null) return;
    if (this.#body.length === undefined) this.#socket.write('0\r\n\r\n', 'latin1');
    this.#body = null;
    this.#sent = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#reading.isKept = false;
    if (!this.#rests) this.#socket.resume();
  }

  abort(): void {
    this.#handler = null;
    resetOnceDestroyed(this.#socket);
    this.close();
  }

  /** Ends the connection along with its request. A request not yet written moves to another connection. */
  close(): void {
    this.#close(new Error('the upstream closed the connection'));
  }

  #close(error: Error): void {
    if (this.#gone) return;
    this.#body = null;
    this.#socket.destroy();
    this.#owner.gone();
    this.#gone = true;
    const leaving = this.#leaving;
    this.#leaving = null;
    if (leaving === null) return;
    // The upstream closed a new connection right away and would do so again, so the request fails.
    if (this.#parser.head === null) leaving.handler.onRefused(error);
    else this.#owner.giveBack(leaving.request, leaving.handler);
  }

  /** Handles the `length` bytes that the socket has read into the buffer. */
  read(length: number): void {
    this.#unanswered = null;
    if (this.#gone) return;
    const { chunks } = this.#parser;
    const taken = this.#parser.feed(this.#reading.bytes, length);
    if (this.#gone) return;
    if (!this.#parser.over) {
      const work = length + pieceWork * (this.#parser.chunks - chunks);
      const inARow = Math.max(work, mostInARow);
      this.#rests = this.#handler !== null && restsAfter(work, this.#goOn, this.#handler, inARow);
      if (this.#rests) this.#socket.pause();
      return;
    }
    // The connection is not reused if bytes arrived that belong to no response, or if the upstream responded before it
    // had the whole request. Otherwise the next bytes could be taken for the response to another request.
    const requestSent = this.#sent && this.#socket.writableLength === 0;
    if (taken < length || !requestSent || this.#parser.head?.keepAlive !== true) return this.close();
    if (this.#paused) this.#socket.resume();
    this.#paused = false;
    this.#owner.free();
  }

  readonly #goOn = guarded(this, () => {
    this.#rests = false;
    if (!this.#gone && !this.#paused) this.#socket.resume();
  });

  /** A connection that rests gives its own buffer to those that do not. */
  get expectsMore(): boolean {
    return !this.#gone && !this.#rests && !this.#parser.over;
  }

  onEarlyHints(headers: readonly string[]): void {
    this.#handler?.onEarlyHints(headers);
  }

  onHead(head: ResponseHead): void {
    this.#handler?.onHead(head);
  }

  onBytes(bytes: Buffer, from: number, to: number): void {
    if (this.#handler === null) return;
    if (this.#handler.onBody(bytes.subarray(from, to), this.#reading.isShared) || this.#gone) return;
    this.#reading.isKept = true;
    if (this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  onEnd(trailers: readonly string[]): void {
    this.#handler?.onEnd(trailers);
    this.#handler = null;
  }

  #outliveFailedWrite(): void {
    if (this.#outlivesFailedWrite) return;
    this.#outlivesFailedWrite = true;
    outliveFailedWrite(this.#socket, (error) => {
      this.#writeError = error;
      this.#body = null;
      this.#sent = false;
    });
  }

  /** Called before the socket's own listener, which forbids writing. */
  #onFin(): void {
    if (this.#parser.head?.body.kind !== 'until-close') return this.#end();
    // A reset may be reported as an end. A write in progress then fails right afterwards, so wait for its error.
    if (this.#socket.writableLength > 0) return void setImmediate(guarded(this, () => this.#end()));
    this.#writeError ??= resetBehindEnd(this.#socket);
    this.#end();
  }

  #end(): void {
    if (this.#gone) return;
    // EPIPE means that the upstream had ended its side. Any other error may have truncated the response (RFC 9112 §8).
    if (this.#writeError !== null && this.#writeError.code !== 'EPIPE') return this.#fail(this.#writeError);
    try {
      this.#parser.close();
    } catch (error) {
      return this.#fail(this.#writeError ?? (error as Error));
    }
    this.close();
  }

  broke(error: unknown): void {
    this.#handler ??= this.#leaving?.handler ?? null;
    this.#leaving = null;
    if (error instanceof MessageFault) return this.#fail(error);
    if (this.#handler === null) this.#parts.report(error);
    this.#fail(new Fault(error));
  }

  #fail(error: Error): void {
    const handler = this.#handler;
    const unanswered = error instanceof Fault ? null : this.#unanswered;
    this.#close(error);
    this.#handler = null;
    if (unanswered !== null && handler?.onUnanswered() === true) this.#owner.giveBack(unanswered, handler);
    else handler?.onFailure(error);
  }
}

guardMethods(Connection, undefined, 'send', 'depart', 'read', 'close');
guardMethods(Connection, false, 'mayStillSend');
