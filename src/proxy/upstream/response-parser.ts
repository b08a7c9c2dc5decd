import { ResponseFault } from './errors.ts';
import { parseResponseHead, type ResponseHead } from './response-head.ts';
import { ChunkedBody } from './chunked-body.ts';
import { latin1 } from './read-buffer.ts';

/** Is called as a response comes in. */
export interface ResponseEvents {
  onHead(head: ResponseHead): void;
  /** A part of the body, between two positions; the bytes are there during the call only. */
  onBytes(bytes: Buffer, from: number, to: number): void;
  /** @param trailers flat list of names and values */
  onEnd(trailers: readonly string[]): void;
}

/** Responses with a larger head are rejected. */
export const maxResponseHeadBytes = 64 * 1024;
/** Most heads end within this many bytes, so the end is looked for here first. */
const firstLookBytes = 2048;
/** Interim responses (1xx) before the final one; an upstream that sends more is given up. */
const mostInterimResponses = 100;

/**
 * Reads one response after another from a connection, strictly (RFC 9112). Interim responses (1xx) are dropped: the
 * gateway asks upstreams for none, so no client waits for one.
 */
export class ResponseParser {
  /** No response is expected: before {@link begin}, and after its end. Bytes that come then belong to no request. */
  over = true;
  /** Of the latest response; `null` before there is one. */
  head: ResponseHead | null = null;
  readonly #events: ResponseEvents;
  #toHead = false;
  #interimCount = 0;
  /** The part of a head that has come in so far. */
  #text = '';
  #left = 0;
  #chunks: ChunkedBody | null = null;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  /** Expects the response to a request. @param toHead it is a HEAD */
  begin(toHead: boolean): void {
    this.over = false;
    this.head = null;
    this.#toHead = toHead;
    this.#interimCount = 0;
    this.#chunks = null;
  }

  /**
   * Takes the next bytes.
   *
   * @returns the position after the last one that belongs to the response
   * @throws ResponseFault where they cannot be read; the connection is of no use then
   */
  feed(bytes: Buffer, to: number): number {
    let at = 0;
    while (at < to && !this.over) {
      at = this.head === null ? this.#feedHead(bytes, at, to) : this.#feedBody(bytes, at, to);
    }
    return at;
  }

  /** The upstream has ended the connection. @throws ResponseFault where that cuts the response short */
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
    // Its end may be coming in: three of the four bytes may be there already.
    const least = end === -1 ? this.#text.length - 3 : end;
    if (least > maxResponseHeadBytes) throw new ResponseFault('too long a head');
    if (end === -1) return to;
    const head = parseResponseHead(this.#text.slice(0, end + 2), this.#toHead);
    this.#text = '';
    this.#take(head);
    return from + end + 4 - before;
  }

  #take(head: ResponseHead): void {
    if (head.status === 101) throw new ResponseFault('an upgrade that was not asked for');
    if (head.status < 200) {
      this.#interimCount += 1;
      if (this.#interimCount > mostInterimResponses) throw new ResponseFault('too many 1xx before it');
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
