import type { ClientResponse } from '../../http/client-request.ts';
import { latin1 } from '../../http1/fields.ts';
import type { BodyOwner } from './request-body.ts';

/** Maximum size in bytes of a body that is written together with the head, in one system call. */
const mostCollected = 16 * 1024;
/** Minimum size in bytes of a body that takes less time as bytes than as text. */
const leastAsBytes = 1024;

/**
 * Maximum number of Early Hints passed to a client for one request. Without a limit, Early Hints could fill memory if
 * the client reads slowly.
 */
const mostEarlyHints = 10;

/**
 * Writes an upstream's response to the client. A short response is written whole. A long one, or one of unknown length,
 * is written as it arrives.
 */
export class ResponseWriter {
  status = 0;
  /** Number of body bytes so far. */
  bytes = 0;
  readonly #response: ClientResponse;
  readonly #exchange: Pick<BodyOwner, 'mayPass'>;
  #reason = '';
  #earlyHints = 0;
  #headers: readonly string[] = [];
  #length: number | undefined;
  #collecting = false;
  /** Body so far, in Latin-1, which keeps every byte intact. */
  #collected = '';
  /** The whole body, if it came in one piece and is not short; `null` otherwise. */
  #whole: Buffer | null = null;

  constructor(response: ClientResponse, exchange: Pick<BodyOwner, 'mayPass'>) {
    this.#response = response;
    this.#exchange = exchange;
  }

  /** Whether the head has been written. From then on, the response can only be cut short, not replaced by a problem. */
  get started(): boolean {
    return this.#response.isBegun;
  }

  /** Writes Early Hints (RFC 8297) right away. @param headersOf returns the headers for the client, as a flat list */
  earlyHints(headersOf: () => readonly string[]): void {
    if (++this.#earlyHints <= mostEarlyHints && this.#exchange.mayPass())
      this.#response.writeEarlyHints(headersOf());
  }

  /** Begins the response. @param drained called whenever the client has taken all bytes written so far */
  begin(
    status: number,
    reason: string,
    headers: readonly string[],
    contentLength: number | undefined,
    drained: () => void,
  ): void {
    this.status = status;
    const bodyless = this.#response.request.method === 'HEAD' || status === 204 || status === 304;
    this.#collecting = bodyless || (contentLength !== undefined && contentLength <= mostCollected);
    if (this.#collecting) {
      [this.#reason, this.#headers, this.#length] = [reason, headers, contentLength];
    } else if (this.#exchange.mayPass()) {
      this.#response.onDrain = drained;
      this.#response.begin(status, reason, headers, contentLength);
    }
  }

  /**
   * Takes a piece of the body. Returns `false` if the client has not taken all bytes. The piece must then stay unchanged,
   * and the next one should wait.
   *
   * @param isLent whether the bytes may change once this call has returned, and after the last piece {@link end}
   */
  data(chunk: Buffer, isLent: boolean): boolean {
    this.bytes += chunk.length;
    if (!this.#collecting) return !this.#exchange.mayPass() || this.#response.write(chunk, isLent);
    if (chunk.length === this.#length && chunk.length >= leastAsBytes) this.#whole = chunk;
    else this.#collected += latin1(chunk, 0, chunk.length);
    return true;
  }

  /**
   * Ends the response. Returns `true` if the whole response has been handed to the socket, so the exchange is over.
   * Otherwise the exchange is over once the client has taken the rest.
   *
   * @param trailers flat list of names and values
   */
  end(trailers: readonly string[]): boolean {
    if (!this.#exchange.mayPass()) return false;
    if (this.#collecting) {
      const body = this.#whole ?? this.#collected;
      this.#response.send(this.status, this.#reason, this.#headers, this.#length, body);
    } else this.#response.end(trailers);
    return this.#collecting;
  }
}
