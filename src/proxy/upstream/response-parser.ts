import { ResponseFault } from './errors.ts';
import { parseResponseHead, type ResponseHead } from './response-head.ts';
import { ChunkedBody } from './chunked-body.ts';
import { latin1 } from './latin1.ts';

/** Hears of an answer as it comes in. */
export interface ResponseEvents {
  onHead(head: ResponseHead): void;
  /** A part of the body, between two positions; the bytes are there during the call only. */
  onBytes(bytes: Buffer, from: number, to: number): void;
  /** @param trailers flat list of names and values */
  onEnd(trailers: readonly string[]): void;
}

/** Answers with a larger head are not relayed. */
const maxResponseHeadBytes = 64 * 1024;
/** Of this much, most heads end. */
const firstLookBytes = 2048;
/** More answers of the kind 1xx before the one that counts are taken for noise. */
const mostInterim = 100;

/**
 * Reads one answer after another from a connection, strictly (RFC 9112). Answers of the kind 1xx are between the
 * upstream and the gateway and are left out: the gateway asks for none.
 */
export class ResponseParser {
  /** Nothing is expected: before {@link begin}, and after an answer. What comes then belongs to no request. */
  over = true;
  /** Of the latest answer; `null` before there is one. */
  head: ResponseHead | null = null;
  readonly #events: ResponseEvents;
  #toHead = false;
  #interim = 0;
  /** What has come of a head. */
  #text = '';
  #left = 0;
  #chunks: ChunkedBody | null = null;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  /** Expects the answer to a request. @param toHead it is a HEAD */
  begin(toHead: boolean): void {
    this.over = false;
    this.head = null;
    this.#toHead = toHead;
    this.#interim = 0;
    this.#chunks = null;
  }

  /**
   * Takes the next bytes.
   *
   * @returns the position after the last one that belongs to the answer
   * @throws ResponseFault where they cannot be read; the connection is of no use then
   */
  feed(bytes: Buffer, to: number): number {
    let at = 0;
    while (at < to && !this.over) {
      at = this.head === null ? this.#feedHead(bytes, at, to) : this.#feedBody(bytes, at, to);
    }
    return at;
  }

  /** The upstream has ended the connection. @throws ResponseFault where that cuts the answer short */
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
    if (head.status === 101) throw new ResponseFault('an upgrade nobody asked for');
    if (head.status < 200) {
      this.#interim += 1;
      if (this.#interim > mostInterim) throw new ResponseFault('too many 1xx before it');
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
