import { ChunkedBody } from '../../http1/chunked-body.ts';
import { HeadText } from '../../http1/head-text.ts';
import { MessageFault } from '../../http1/message-fault.ts';
import { parseResponseHead, type ResponseHead } from './message-head.ts';

/** Events of a response as it arrives. */
export interface ResponseEvents {
  /** Called for Early Hints, a 103 (RFC 8297). @param headers flat list of names and values */
  onEarlyHints(headers: readonly string[]): void;
  onHead(head: ResponseHead): void;
  /**
   * Called for each part of the body: `bytes` from offset `from` up to, but not including, `to`. The bytes are valid
   * only during the call. After the last part of a body of known length, they are valid until {@link onEnd} has
   * returned, which is called right after it.
   */
  onBytes(bytes: Buffer, from: number, to: number): void;
  /** Called at the end of the response. @param trailers flat list of names and values */
  onEnd(trailers: readonly string[]): void;
}

/** Maximum number of bytes in the head of a response. A response with a larger head is rejected. */
export const maxResponseHeadBytes = 64 * 1024;
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
  readonly #text = new HeadText();
  #left = 0;
  #chunks: ChunkedBody | null = null;

  /** Number of chunks of the latest response that have been read. */
  get chunks(): number {
    return this.#chunks?.chunks ?? 0;
  }

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
   * @throws MessageFault if the bytes are not a valid response. The connection cannot be used after that
   */
  feed(bytes: Buffer, to: number): number {
    let at = 0;
    while (at < to && !this.over) {
      at = this.head === null ? this.#feedHead(bytes, at, to) : this.#feedBody(bytes, at, to);
    }
    return at;
  }

  /** Notes that the upstream has ended the connection. @throws MessageFault if the response is incomplete */
  close(): void {
    if (this.over) return;
    if (this.head?.body.kind !== 'until-close') throw new MessageFault('no end');
    this.#end([]);
  }

  #feedHead(bytes: Buffer, from: number, to: number): number {
    const at = this.#text.feed(bytes, from, to, maxResponseHeadBytes);
    if (at === -1) {
      // Bytes that can never become a head are rejected at once, rather than after the timeout.
      const { text } = this.#text;
      if (!text.startsWith(statusStart.slice(0, text.length)))
        throw new MessageFault('no HTTP/1 status line');
      return to;
    }
    this.#take(parseResponseHead(this.#text.take(), this.#toHead));
    return at;
  }

  #take(head: ResponseHead): void {
    if (head.status === 101) {
      if (!this.#mayUpgrade) throw new MessageFault('an upgrade that was not asked for');
      this.head = head;
      this.over = true;
      return this.#events.onHead(head);
    }
    if (head.status < 200) {
      this.#interimCount += 1;
      if (this.#interimCount > mostInterimResponses) throw new MessageFault('too many 1xx before it');
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

  readonly #onBytes = (bytes: Buffer, from: number, to: number): boolean => {
    this.#events.onBytes(bytes, from, to);
    return true;
  };

  #end(trailers: readonly string[]): void {
    if (this.over) return;
    this.over = true;
    this.#events.onEnd(trailers);
  }
}
