import type { OnReadOpts } from 'node:net';
import { ResponseFault } from './errors.ts';
import { latin1, parseResponseHead, type ResponseHead } from './message-head.ts';
import { ChunkedBody } from './chunked-body.ts';

/** Events of a response as it arrives. */
export interface ResponseEvents {
  /** Called for Early Hints, a 103 (RFC 8297). @param headers flat list of names and values */
  onEarlyHints(headers: readonly string[]): void;
  onHead(head: ResponseHead): void;
  /**
   * Called for each part of the body: `bytes` from offset `from` up to, but not including, `to`. The bytes are valid
   * only during the call.
   */
  onBytes(bytes: Buffer, from: number, to: number): void;
  /** Called at the end of the response. @param trailers flat list of names and values */
  onEnd(trailers: readonly string[]): void;
}

/** Maximum number of bytes in the head of a response. A response with a larger head is rejected. */
export const maxResponseHeadBytes = 64 * 1024;
/** Number of bytes to search first for the end of a head, because most heads end within them. */
const firstLookBytes = 2048;
const statusStart = 'HTTP/1.';
/** Maximum number of interim responses (1xx) before the final one. If an upstream sends more, the request fails. */
const mostInterimResponses = 100;

/**
 * Reads one response after another from a connection, strictly (RFC 9112). Early Hints are the only interim responses
 * (1xx) that it reports. All others are dropped, because the gateway never asks for them, so no client waits for one.
 */
export class ResponseParser {
  /**
   * Whether no response is expected: {@link begin} has not been called yet, or the latest response has ended. Bytes
   * that arrive in this state belong to no request.
   */
  over = true;
  /** Head of the latest response. {@link begin} resets it to `null` until the next head has arrived. */
  head: ResponseHead | null = null;
  readonly #events: ResponseEvents;
  #toHead = false;
  #mayUpgrade = false;
  #interimCount = 0;
  /** Part of the head that has arrived so far. */
  #text = '';
  #left = 0;
  #chunks: ChunkedBody | null = null;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  /**
   * Prepares for the response to a request.
   *
   * @param toHead whether the request is a HEAD
   * @param mayUpgrade whether the request asked for another protocol. If so, a 101 ends the response, and the bytes
   * after it belong to that protocol
   */
  begin(toHead: boolean, mayUpgrade = false): void {
    this.over = false;
    this.head = null;
    this.#toHead = toHead;
    this.#mayUpgrade = mayUpgrade;
    this.#interimCount = 0;
    this.#chunks = null;
  }

  /**
   * Reads the next bytes.
   *
   * @param to number of bytes in `bytes`
   * @returns the offset after the last byte of the response, or `to` if the response goes on
   * @throws ResponseFault if the bytes are not a valid response. The connection cannot be used after that
   */
  feed(bytes: Buffer, to: number): number {
    let at = 0;
    while (at < to && !this.over) {
      at = this.head === null ? this.#feedHead(bytes, at, to) : this.#feedBody(bytes, at, to);
    }
    return at;
  }

  /** Notes that the upstream has ended the connection. @throws ResponseFault if the response is incomplete */
  close(): void {
    if (this.over) return;
    if (this.head?.body.kind !== 'until-close') throw new ResponseFault('no end');
    this.#end([]);
  }

  #feedHead(bytes: Buffer, from: number, to: number): number {
    const before = this.#text.length;
    let end = -1;
    for (let look = firstLookBytes; end === -1; look *= 8) {
      const upTo = Math.min(to, from + look);
      const text = latin1(bytes, from, upTo);
      this.#text = before === 0 ? text : this.#text.slice(0, before) + text;
      end = this.#text.indexOf('\r\n\r\n', Math.max(0, before - 3));
      if (upTo === to) break;
    }
    // A head ends with CR LF CR LF, which does not count towards its size. If the head is incomplete, the last three
    // bytes so far may be the beginning of that end, so they do not count either.
    const least = end === -1 ? this.#text.length - 3 : end;
    if (least > maxResponseHeadBytes) throw new ResponseFault('too long a head');
    if (end === -1) {
      this.#rejectHopeless(before);
      return to;
    }
    const head = parseResponseHead(this.#text.slice(0, end + 2), this.#toHead);
    this.#text = '';
    this.#take(head);
    return from + end + 4 - before;
  }

  /** Rejects bytes that can never become a head, rather than waiting for more until the timeout. */
  #rejectHopeless(before: number): void {
    if (!this.#text.startsWith(statusStart.slice(0, this.#text.length)))
      throw new ResponseFault('no HTTP/1 status line');
    const emptyLine = /\n\r?\n/g;
    emptyLine.lastIndex = Math.max(0, before - 2);
    if (emptyLine.test(this.#text)) throw new ResponseFault('a line that ends without CR');
  }

  #take(head: ResponseHead): void {
    if (head.status === 101) {
      if (!this.#mayUpgrade) throw new ResponseFault('an upgrade that was not asked for');
      this.head = head;
      this.over = true;
      return this.#events.onHead(head);
    }
    if (head.status < 200) {
      this.#interimCount += 1;
      if (this.#interimCount > mostInterimResponses) throw new ResponseFault('too many 1xx before it');
      if (head.status === 103) this.#events.onEarlyHints(head.headers);
      return;
    }
    this.head = head;
    const { body } = head;
    if (body.kind === 'length') this.#left = body.length;
    else if (body.kind === 'chunked') this.#chunks = new ChunkedBody();
    this.#events.onHead(head);
    if (body.kind === 'length' && body.length === 0) this.#end([]);
  }

  #feedBody(bytes: Buffer, from: number, to: number): number {
    if (this.#chunks !== null) {
      const at = this.#chunks.feed(bytes, from, to, this.#onBytes);
      if (this.#chunks.over) this.#end(this.#chunks.trailers);
      return at;
    }
    if (this.head?.body.kind === 'until-close') {
      this.#events.onBytes(bytes, from, to);
      return to;
    }
    const end = Math.min(to, from + this.#left);
    this.#left -= end - from;
    this.#events.onBytes(bytes, from, end);
    if (this.#left === 0) this.#end([]);
    return end;
  }

  readonly #onBytes = (bytes: Buffer, from: number, to: number): void =>
    this.#events.onBytes(bytes, from, to);

  #end(trailers: readonly string[]): void {
    if (this.over) return;
    this.over = true;
    this.#events.onEnd(trailers);
  }
}

/** Maximum number of bytes in one read. */
export const readBytes = 64 * 1024;

/**
 * Minimum number of bytes in a large read. After a large read, the socket reads into a buffer of its own. A part of
 * that buffer with at least this many bytes is passed on without copying.
 */
const largeBytes = readBytes / 2;

/** Reads from a socket. */
export interface BytesReader {
  /** Returns the buffer for the next read. */
  nextBuffer(): Buffer;
  /** Called when `length` bytes have been read into the buffer. */
  read(length: number): void;
}

/**
 * Buffers that one socket reads into. The bytes of one read are used before the next read begins, so all sockets share
 * one buffer, and bytes that must be kept are copied. While a body arrives in large pieces, its socket reads into
 * separate buffers, which are passed on without copying.
 */
export class ReadBuffer {
  /** Reads the bytes that arrive on the socket; `null` before the connection is open. */
  reader: BytesReader | null = null;
  /** Options for the socket. */
  readonly onread: OnReadOpts = {
    buffer: () => this.reader?.nextBuffer() ?? this.#current,
    callback: (length) => {
      this.reader?.read(length);
      return true;
    },
  };
  readonly #shared: Buffer;
  #current: Buffer;
  #given = false;

  /** @param shared buffer of {@link readBytes} bytes that all sockets share */
  constructor(shared: Buffer) {
    this.#shared = shared;
    this.#current = shared;
  }

  /** Buffer of the latest read. */
  get bytes(): Buffer {
    return this.#current;
  }

  /**
   * Returns a part of the latest read for the caller to keep. A part of the shared buffer is copied. A small part of a
   * separate buffer is copied too, because it would otherwise keep the whole buffer in memory.
   */
  keep(from: number, to: number): Buffer {
    const part = this.#current.subarray(from, to);
    if (this.#current === this.#shared || part.length < largeBytes) return Buffer.from(part);
    this.#given = true;
    return part;
  }

  /**
   * Returns the buffer for the next read.
   *
   * @param length number of bytes in the latest read
   * @param more whether the response goes on
   */
  next(length: number, more: boolean): Buffer {
    if (!more || length < largeBytes) this.#current = this.#shared;
    else if (this.#given || this.#current === this.#shared) {
      this.#current = Buffer.allocUnsafeSlow(readBytes);
    }
    this.#given = false;
    return this.#current;
  }
}
