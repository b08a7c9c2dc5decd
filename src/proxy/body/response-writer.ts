import type { ServerResponse } from 'node:http';
import { pushUpgradeOption } from '../headers/response-headers.ts';
import { mostUnsentBytes } from '../upstream/connection.ts';

/** Maximum size in bytes of a body that is written together with the head, in one system call instead of three. */
const mostCollected = 16 * 1024;

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
  /** Whether the head has been written. From then on, the response can only be cut short, not replaced by a problem. */
  started = false;
  readonly #response: ServerResponse;
  readonly #bodyless: boolean;
  #statusText = '';
  #earlyHints = 0;
  #headers: string[] = [];
  #collecting = false;
  #collected: Buffer | Buffer[] | undefined;

  /** @param bodyless whether the request was a HEAD */
  constructor(response: ServerResponse, bodyless: boolean) {
    this.#response = response;
    this.#bodyless = bodyless;
  }

  /**
   * Writes Early Hints (RFC 8297) right away, or drops them if that is impossible. HTTP/1.0 has no interim responses.
   * On a pipelined connection, hints would have to wait for earlier responses, and late hints are useless.
   *
   * @param headersOf returns the headers for the client, as a flat list of names and values
   */
  earlyHints(headersOf: () => readonly string[]): void {
    const { socket, req } = this.#response;
    if (socket === null || req.httpVersion === '1.0' || ++this.#earlyHints > mostEarlyHints) return;
    const headers = headersOf();
    let head = 'HTTP/1.1 103 Early Hints\r\n';
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    // No part of the response has been written yet, so the hints come before it.
    socket.write(`${head}\r\n`, 'latin1');
  }

  /** Begins the response. @param drained called whenever the client has taken all bytes written so far */
  begin(
    status: number,
    statusText: string,
    headers: string[],
    contentLength: number | undefined,
    drained: () => void,
  ): void {
    this.status = status;
    this.#statusText = statusText;
    this.#headers = headers;
    this.#collecting =
      (contentLength !== undefined && contentLength <= mostCollected) ||
      this.#bodyless ||
      status === 204 ||
      status === 304;
    if (this.#collecting) return;
    this.#writeHead();
    // Writes the head right away, because an event stream may send nothing for a while after its head. `flushHeaders()`
    // would write the head as UTF-8, which turns each non-ASCII byte into two bytes.
    this.#response.write('', 'latin1');
    this.#response.on('drain', drained);
  }

  /**
   * Takes a piece of the body. Returns `false` if too many bytes are waiting for the client. The caller should then
   * pause.
   */
  data(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    if (!this.#collecting) {
      this.#response.write(chunk);
      return this.#response.writableLength < mostUnsentBytes;
    }
    if (this.#collected === undefined) this.#collected = chunk;
    else if (Array.isArray(this.#collected)) this.#collected.push(chunk);
    else this.#collected = [this.#collected, chunk];
    return true;
  }

  /**
   * Ends the response. Returns `true` if the whole response has been handed to Node, so the exchange is over. Otherwise
   * the exchange is over once the client has taken the rest.
   */
  end(trailers: readonly [string, string][]): boolean {
    if (!this.#collecting) {
      if (trailers.length > 0) this.#response.addTrailers(trailers);
      this.#response.end();
      return false;
    }
    this.#writeHead();
    const body = Array.isArray(this.#collected) ? Buffer.concat(this.#collected) : this.#collected;
    if (body === undefined) this.#response.end();
    else this.#endWith(body.toString('latin1'));
    return true;
  }

  /**
   * Writes head and body in one piece. Node joins a string body with the head, but `end(text)` also writes an empty
   * second piece, which costs time. Latin-1 text keeps every byte intact.
   */
  #endWith(text: string): void {
    const { socket } = this.#response;
    // On a pipelined connection, this response has no socket until all earlier responses have ended.
    if (socket === null) return void this.#response.end(text, 'latin1');
    // The socket is corked here. Otherwise Node's response would cork it, and write only in the next tick.
    socket.cork();
    this.#response.write(text, 'latin1');
    socket.uncork();
    this.#response.end();
  }

  #writeHead(): void {
    pushUpgradeOption(this.status, this.#headers, this.#response);
    this.#response.writeHead(this.status, this.#statusText, this.#headers);
    this.started = true;
  }
}
