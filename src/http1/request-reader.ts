import { ChunkedBody, type TakeBytes } from './chunked-body.ts';
import { HeadText } from './head-text.ts';
import { MessageFault } from './message-fault.ts';
import { mayBecomeRequest, parseRequestHead, type RequestHead } from './request-head.ts';

/**
 * Reads one request after another from the bytes of a connection, strictly (RFC 9112). It reads no further than its
 * caller asks: the head of a request, then the body, then the next head.
 */
export class RequestReader {
  readonly #text = new HeadText();
  #left = 0;
  #chunks: ChunkedBody | null = null;
  #begun = false;
  #headBytes = 0;

  /** Whether the latest request has been read to its end, or there has been none. */
  complete = true;
  /** Offset of the first byte that the latest {@link readHead} has not read. */
  at = 0;

  /** Whether part of a head has been read. */
  get inHead(): boolean {
    return this.#begun;
  }

  /** Number of chunks of the latest request's body that have been read. */
  get chunks(): number {
    return this.#chunks?.chunks ?? 0;
  }

  /** Number of bytes of the latest head, or of its part that has been read. */
  get headBytes(): number {
    return this.#begun ? this.#text.text.length : this.#headBytes;
  }

  /** Whether the request whose head is being read is a HEAD, as far as can be told. */
  get readsHead(): boolean {
    return this.#text.text.startsWith('HEAD ');
  }

  /**
   * Reads the head of the next request, from offset `from`. {@link at} is then the offset of the next byte to read.
   * Bytes from there on have not been read, and are to be given again along with those that follow.
   *
   * @param mostBytes maximum number of bytes in the head
   * @returns `null` if the head goes on
   * @throws MessageFault if the bytes are no request
   */
  readHead(bytes: Buffer, from: number, mostBytes: number): RequestHead | null {
    let start = from;
    if (!this.#begun) {
      // Line ends before a request are ignored (RFC 9112 §2.2).
      while (bytes[start] === 0x0d || bytes[start] === 0x0a) start += 1;
      this.at = start;
      if (start === bytes.length) return null;
      this.#begun = true;
    }
    const at = this.#feed(bytes, start, mostBytes);
    if (at === -1) {
      this.at = bytes.length;
      return null;
    }
    this.at = at;
    const head = parseRequestHead(this.#text.text);
    this.#headBytes = this.#text.take().length;
    this.#begun = false;
    const { bodyLength } = head;
    this.#chunks = bodyLength === undefined ? new ChunkedBody(true) : null;
    this.#left = bodyLength ?? 0;
    this.complete = bodyLength === 0;
    return head;
  }

  #feed(bytes: Buffer, from: number, mostBytes: number): number {
    try {
      const at = this.#text.feed(bytes, from, bytes.length, mostBytes);
      if (at !== -1 || mayBecomeRequest(this.#text.text)) return at;
    } catch (error) {
      if (mayBecomeRequest(this.#text.text)) throw error;
    }
    throw new MessageFault('no request line');
  }

  /**
   * Reads the body of the latest request, from offset `from`. Sets {@link complete} at its end.
   *
   * @returns the offset after the last byte that was read
   * @throws MessageFault if the body is malformed
   */
  readBody(bytes: Buffer, from: number, take: TakeBytes): number {
    if (this.#chunks !== null) {
      const at = this.#chunks.feed(bytes, from, bytes.length, take);
      this.complete = this.#chunks.over;
      if (this.complete && changesFraming(this.#chunks.trailers))
        throw new MessageFault('a length in its trailers');
      return at;
    }
    const end = Math.min(bytes.length, from + this.#left);
    this.#left -= end - from;
    if (end > from) take(bytes, from, end);
    this.complete = this.#left === 0;
    return end;
  }
}

/** Whether trailers have a name that says where a message ends (RFC 9110 §6.5.1). */
function changesFraming(trailers: readonly string[]): boolean {
  for (let i = 0; i < trailers.length; i += 2)
    if (framingNames.has((trailers[i] as string).toLowerCase())) return true;
  return false;
}

const framingNames = new Set(['content-length', 'transfer-encoding']);
