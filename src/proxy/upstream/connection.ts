import type { Socket } from 'node:net';
import type { ResponseHead } from './response-head.ts';
import { ResponseParser, type ResponseEvents } from './response-parser.ts';
import { latin1, type ReadBuffer } from './read-buffer.ts';
import { requestHead, type BodySink, type OutgoingRequest, type BodySource } from './request-head.ts';

/** A request that is on a connection, as its handler sees it. */
export interface InFlightRequest {
  /** Bytes that have gone out and come in on the connection: a number that grows while there is progress. */
  readonly progress: number;
  /** Reads on, after an `onBody` that returned `false`. */
  resume(): void;
  /** Ends the connection. The handler is not called again. */
  abort(): void;
}

/** Is told what becomes of a request: one head, its body, one end; or a failure, at any point. */
export interface ResponseHandler {
  /**
   * Asked in the tick in which the request is written. `false` where it is not to be sent after all; the handler is not
   * called again then.
   */
  onSending(inFlight: InFlightRequest): boolean;
  onHead(head: Pick<ResponseHead, 'status' | 'reason' | 'headers'>): void;
  /** `false` where the rest should wait for {@link InFlightRequest.resume}. The bytes are the handler's to keep. */
  onBody(chunk: Buffer): boolean;
  /** @param trailers flat list of names and values */
  onEnd(trailers: readonly string[]): void;
  onFailure(error: Error): void;
}

/** What a connection tells the pool that owns it. */
export interface ConnectionOwner {
  /** It can take another request. */
  free(connection: Connection): void;
  /** It has ended. */
  gone(connection: Connection): void;
}

/**
 * Bytes that may wait to be sent on a socket before reading from the other side pauses. What `write` returns is no help:
 * it is `false` for every large piece, even one that the system has taken at once.
 */
export const mostUnsentBytes = 64 * 1024;

/** One connection to an upstream. It carries one request at a time, and is closed after one that did not end well. */
export class Connection implements InFlightRequest, BodySink, ResponseEvents {
  /** Since when it has been idle, by the owner's monotonic clock. */
  idleSinceMs = 0;
  readonly #socket: Socket;
  readonly #reading: ReadBuffer;
  readonly #host: string;
  readonly #owner: ConnectionOwner;
  readonly #parser = new ResponseParser(this);
  #handler: ResponseHandler | null = null;
  #body: BodySource | null = null;
  #sent = true;
  #paused = false;
  #latestRead = 0;
  #gone = false;

  /**
   * @param reading what the socket reads into
   * @param host the `Host` of requests that name none
   */
  constructor(socket: Socket, reading: ReadBuffer, host: string, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#reading = reading;
    this.#host = host;
    this.#owner = owner;
    socket.on('drain', () => this.#body?.resume());
    socket.on('end', () => this.#onFin());
    // An upstream may respond early and reset the connection. If our next write meets the reset first, Node closes the
    // socket at once and the response that was not read yet is lost: the client gets 502, though there was a response.
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the upstream closed the connection')));
  }

  /** How long the upstream keeps it open while idle, milliseconds; `null` where it does not say. */
  get keepAliveMs(): number | null {
    return this.#parser.head?.keepAliveMs ?? null;
  }

  get progress(): number {
    return this.#socket.bytesRead + this.#socket.bytesWritten - this.#socket.writableLength;
  }

  /** Sends a request on a connection that is free. */
  send(request: OutgoingRequest, handler: ResponseHandler): void {
    const { body, method } = request;
    this.#handler = handler;
    let head: string;
    try {
      head = requestHead(request, this.#host);
    } catch (error) {
      return this.#fail(error as Error);
    }
    this.#parser.begin(method === 'HEAD');
    if (body === null) {
      this.#socket.write(head, 'latin1');
    } else if (Buffer.isBuffer(body)) {
      // One piece, one system call.
      this.#socket.write(head + latin1(body, 0, body.length), 'latin1');
    } else {
      this.#sent = false;
      this.#body = body;
      this.#socket.write(head, 'latin1');
      body.start(this);
    }
  }

  write(chunk: Buffer): boolean {
    if (this.#gone || chunk.length === 0) return true;
    if (this.#body?.length !== undefined) {
      this.#socket.write(chunk);
    } else {
      this.#socket.cork();
      this.#socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
      this.#socket.write(chunk);
      this.#socket.write('\r\n', 'latin1');
      this.#socket.uncork();
    }
    return this.#socket.writableLength < mostUnsentBytes;
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
    this.#socket.resume();
  }

  abort(): void {
    this.#handler = null;
    this.close();
  }

  /** Ends it, together with the request that is on it. */
  close(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#body = null;
    this.#socket.destroy();
    this.#owner.gone(this);
  }

  /** For the socket: where the next read goes. */
  nextBuffer(): Buffer {
    return this.#reading.next(this.#latestRead, !this.#gone && !this.#parser.over);
  }

  /** For the socket: `length` bytes have been read into the buffer. */
  read(length: number): void {
    this.#latestRead = length;
    if (this.#gone) return;
    let taken: number;
    try {
      taken = this.#parser.feed(this.#reading.bytes, length);
    } catch (error) {
      return this.#fail(error as Error);
    }
    if (this.#gone || !this.#parser.over) return;
    // Not used again after bytes that belong to no response, nor where the upstream responded before it had the whole
    // request: what comes next on this connection could be taken for the response to another request.
    const requestSent = this.#sent && this.#socket.writableLength === 0;
    if (taken < length || !requestSent || this.#parser.head?.keepAlive !== true) return this.close();
    this.resume();
    this.#owner.free(this);
  }

  onHead(head: ResponseHead): void {
    this.#handler?.onHead(head);
  }

  onBytes(_bytes: Buffer, from: number, to: number): void {
    if (this.#handler === null || this.#handler.onBody(this.#reading.keep(from, to)) || this.#gone) return;
    this.#paused = true;
    this.#socket.pause();
  }

  onEnd(trailers: readonly string[]): void {
    const handler = this.#handler;
    this.#handler = null;
    try {
      handler?.onEnd(trailers);
    } catch (error) {
      // `onFailure` is called for this, as for every other failure.
      this.#handler = handler;
      throw error;
    }
  }

  #onFin(): void {
    if (this.#gone) return;
    try {
      this.#parser.close();
    } catch (error) {
      return this.#fail(error as Error);
    }
    this.close();
  }

  #fail(error: Error): void {
    const handler = this.#handler;
    this.#handler = null;
    this.close();
    handler?.onFailure(error);
  }
}
