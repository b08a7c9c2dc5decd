import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { guarded, type Breakable } from '../../http/guarded.ts';
import { resetConnection } from '../../http/hang-up.ts';
import { unreadBytes, unsentBytes } from '../../http/socket-bytes.ts';
import { MessageFault } from '../../http1/message-fault.ts';
import { requestHead, type ResponseHead } from '../upstream/message-head.ts';
import { ResponseParser, type ResponseEvents } from '../upstream/response-parser.ts';
import type { InFlightRequest, ResponseHandler } from '../upstream/upstream-client.ts';

/** Receives the events of a handshake. If the handshake's code throws an exception, the handshake calls `broke`. */
export interface HandshakeUser
  extends Breakable, Pick<ResponseHandler, 'onHead' | 'onBody' | 'onEnd' | 'onFailure'> {
  /** Called if the upstream agrees to a WebSocket. @param rest bytes after the response, which belong to frames */
  onConsent(response: ResponseHead, rest: Buffer): void;
}

/** The opening handshake of a WebSocket (RFC 6455 §4), on a separate connection to the upstream. */
export class Handshake implements InFlightRequest, ResponseEvents, Breakable {
  readonly #socket: Socket;
  readonly #text: string;
  readonly #key: string;
  readonly #user: HandshakeUser;
  readonly #parser = new ResponseParser(this);
  readonly #onData: (chunk: Buffer) => void;
  #over = false;

  /**
   * @param headers flat list of names and values, without connection headers. The headers and the target are written
   * unchanged
   * @param host `Host` header for a request that has none, because HTTP/1.1 requires `Host` (RFC 9112 §3.2)
   * @param key the client's `Sec-WebSocket-Key`
   * @throws Error if a character would end a line early
   */
  constructor(
    socket: Socket,
    target: string,
    headers: readonly string[],
    host: string,
    key: string,
    user: HandshakeUser,
  ) {
    const named = [...headers, 'connection', 'Upgrade', 'upgrade', 'websocket'];
    this.#text = requestHead({ method: 'GET', target, headers: named, body: null }, host);
    this.#socket = socket;
    this.#key = key;
    this.#user = user;
    this.#onData = guarded(this, (chunk: Buffer) => this.#read(chunk));
  }

  send(): void {
    const socket = this.#socket;
    socket.on('data', this.#onData);
    const ended = (): void => {
      if (!this.#over) this.#parser.close();
    };
    socket.once('end', guarded(this, ended));
    const failed = (error: Error): void => this.#fail(error);
    socket.once('error', guarded(this, failed));
    const closed = (): void => this.#fail(new Error('the upstream closed the connection'));
    socket.once('close', guarded(this, closed));
    this.#parser.begin(false, true);
    socket.write(this.#text, 'latin1');
  }

  get progress(): number {
    const sent = this.#socket.bytesWritten - this.#socket.writableLength;
    return this.#parser.head === null ? sent : sent + this.#socket.bytesRead;
  }

  get heldBytes(): number {
    return unsentBytes(this.#socket) + unreadBytes(this.#socket);
  }

  resume(): void {
    this.#socket.resume();
  }

  abort(): void {
    this.#over = true;
    resetConnection(this.#socket);
  }

  onEarlyHints(): void {
    // Early Hints are dropped: browsers use them only for pages, and a WebSocket handshake fetches no page.
  }

  onHead(head: ResponseHead): void {
    if (head.status !== 101) this.#user.onHead(head);
  }

  onBytes(bytes: Buffer, from: number, to: number): void {
    if (this.#over || this.#user.onBody(bytes.subarray(from, to), false)) return;
    this.#socket.pause();
  }

  onEnd(trailers: readonly string[]): void {
    if (this.#over) return;
    this.#over = true;
    this.#user.onEnd(trailers);
  }

  #read(chunk: Buffer): void {
    if (this.#over) return;
    const taken = this.#parser.feed(chunk, chunk.length);
    const { head } = this.#parser;
    if (head?.status === 101) this.#consent(head, chunk.subarray(taken));
  }

  #consent(head: ResponseHead, rest: Buffer): void {
    const fault = consentFault(head, this.#key);
    if (fault !== undefined) return this.#fail(new MessageFault(fault));
    this.#over = true;
    this.#socket.off('data', this.#onData);
    this.#user.onConsent(head, rest);
  }

  broke(error: unknown): void {
    if (error instanceof MessageFault) this.#fail(error);
    else this.#user.broke(error);
  }

  #fail(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#user.onFailure(error);
  }
}

/**
 * Returns the reason why a 101 does not turn the connection into a WebSocket (RFC 6455 §4.1); `undefined` if it does.
 * If the upstream did not agree to the upgrade, no bytes may pass: they would not be frames, and could even be the
 * response to another client's request.
 */
function consentFault({ headers }: ResponseHead, key: string): string | undefined {
  if (fieldOf(headers, 'upgrade').toLowerCase() !== 'websocket') return 'an upgrade to something else';
  const options = fieldOf(headers, 'connection').toLowerCase().split(',');
  if (!options.some((option) => option.trim() === 'upgrade')) return '101 without an upgrade';
  if (fieldOf(headers, 'transfer-encoding') !== '') return 'a body behind 101';
  return fieldOf(headers, 'sec-websocket-accept') === acceptOf(key) ? undefined : '101 for another key';
}

/** Returns the values of a field, joined by commas; empty if the field is absent. */
function fieldOf(headers: readonly string[], name: string): string {
  const values: string[] = [];
  for (let i = 0; i < headers.length; i += 2)
    if (headers[i]?.toLowerCase() === name) values.push(headers[i + 1] as string);
  return values.join(',');
}

/** Returns the head of the 101 response to the client. @param headers flat list of names and values */
export function switchingProtocols(headers: readonly string[]): Buffer {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}
