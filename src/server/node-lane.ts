import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { BodyReader, ClientRequest, BytesHolder, HoldsFor } from '../http/client-request.ts';
import { noteContinue } from '../http/expect-continue.ts';
import { holderOf } from '../http/outcome.ts';
import { guarded, guardMethods, reportFaults, type Breakable } from '../http/guarded.ts';
import { bodyLengthOf } from '../http/unfinished-body.ts';
import { restsAfter } from '../http/turn.ts';
import { http } from '../http1/node-http.ts';
import type { ServingConnection } from './served.ts';
import type { ServedResponse } from './served-response.ts';

/**
 * Reads the requests of all lanes. It never listens, and has no limits of its own, because the client's connection has
 * them.
 */
const server = http.createServer({
  requestTimeout: 0,
  headersTimeout: 0,
  keepAliveTimeout: 0,
  // The connection has limited the head, which may become a little longer when it is written anew.
  maxHeaderSize: 1024 * 1024,
  requireHostHeader: false,
  insecureHTTPParser: false,
});
// By default Node keeps 1,000 headers and silently drops the rest.
server.maxHeadersCount = 0;
server.on('request', (message, response) => laneOf(message).serve(message, response));
server.on('clientError', (error, lane) => lane.destroy(error));

function laneOf({ socket }: IncomingMessage): NodeLane {
  return socket as unknown as NodeLane;
}

/**
 * Maximum number of bytes to hand to the socket at once. TLS keeps a copy of what the client has not taken, and only a
 * piece that the client has taken whole counts as progress.
 */
const mostAtOnce = 32 * 1024;

/**
 * A connection that carries one request to a handler in the form of `node:http`. The client's own connection stays with
 * its reader. Node gets the request written anew from what the reader has read, without `Upgrade` and `Expect`. If Node
 * reads another method, target or length in it, the connection ends.
 */
export class NodeLane extends Duplex implements BodyReader, BytesHolder, Breakable {
  readonly #connection: ServingConnection;
  readonly #request: ClientRequest;
  /** The response on the client's connection. */
  readonly #own: ServedResponse;
  readonly #handler: RequestListener;
  /** The response as the handler writes it; `null` until Node has read the request. */
  #response: ServerResponse | null = null;
  #readsBody = false;
  #isOver = false;
  /** Bytes of the body so far. The handler keeps them, or what it makes of them. */
  #bodyBytes = 0;

  constructor(connection: ServingConnection, own: ServedResponse, handler: RequestListener) {
    const { request } = own;
    super();
    this.#connection = connection;
    this.#request = request;
    this.#own = own;
    this.#handler = handler;
    request.holder = this;
    reportFaults(this as unknown as Socket, (error) => connection.served.application.broke(error));
    this.on('error', () => undefined);
    const closed = (): void => void (this.#isOver || own.cut());
    this.on('close', guarded(this, closed));
    own.onClose = () => {
      this.#isOver = true;
      this.destroy();
    };
    server.emit('connection', this);
    this.push(Buffer.from(headText(request), 'latin1'));
    if (request.bodyLength !== 0 && !own.continues) this.#readBody();
  }

  get remoteAddress(): string | undefined {
    return this.#connection.socket.remoteAddress;
  }

  get encrypted(): boolean {
    return 'encrypted' in this.#connection.socket;
  }

  get bytesRead(): number {
    return this.#connection.socket.bytesRead;
  }

  get holdsFor(): HoldsFor | null {
    return holderOf(this);
  }

  get heldBytes(): number {
    return this.#isOver ? 0 : this.#bodyBytes + this.writableLength;
  }

  /** The end of the connection ends the lane. */
  dropped(): void {}

  /** Serves the request, as Node has read it. */
  serve(message: IncomingMessage, response: ServerResponse): void {
    if (this.#response !== null || !readsTheSame(message, this.#request))
      return void this.destroy(new Error('a request was read in two ways'));
    this.#response = response;
    let keeps = true;
    Object.defineProperty(response, 'shouldKeepAlive', {
      get: () => keeps && !this.#own.last && !this.#own.continues && !this.#connection.leavesNow,
      set: (value: boolean) => (keeps = value),
    });
    // Node is still reading the head, so the body must not come before this call has returned.
    const goOn = (): void => void setImmediate(guarded(this, () => this.#readBody()));
    if (this.#own.continues) noteContinue(message, goOn);
    // Node's own listener comes before this one. It ends the lane if the connection is to end.
    const finished = (): void => this.#finished();
    response.once('finish', guarded(this, finished));
    this.#handler(message, response);
  }

  /** Ends the connection. */
  broke(error: unknown): void {
    this.#connection.broke(error);
  }

  #readBody(): void {
    if (this.#isOver) return;
    this.#readsBody = true;
    this.#request.readBody(this);
  }

  onBytes(chunk: Buffer): void {
    const isChunked = this.#request.bodyLength === undefined;
    const framed = isChunked
      ? Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')])
      : chunk;
    this.#bodyBytes += chunk.length;
    if (!this.push(framed)) this.#request.pauseBody();
  }

  /** A stream keeps the bytes until the handler has read them. */
  readonly hasPassedOn = false;

  onBodyEnd(): void {
    this.#readsBody = false;
    if (this.#request.bodyLength === undefined) this.push('0\r\n\r\n');
  }

  override _read(): void {
    if (this.#readsBody && !this.#isOver) this.#request.resumeBody();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#isOver) return done();
    const [piece, rest] = [chunk.subarray(0, mostAtOnce), chunk.subarray(mostAtOnce)];
    const goOn = guarded(this, () => (rest.length === 0 ? done() : this._write(rest, encoding, done)));
    const written = guarded(this, (error?: Error | null) => {
      if (error) done(error);
      else if (!restsAfter(piece.length, goOn, this.#connection)) goOn();
    });
    this.#own.writeBytes(piece, this.#response?.statusCode ?? 0, written);
  }

  override _final(done: () => void): void {
    this.#own.last = true;
    done();
  }

  #finished(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.writableEnded) this.#own.last = true;
    this.#request.endBody();
    this.#own.noteEnded();
    this.destroy();
  }

  // Node calls these on each connection that it serves.
  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
}

guardMethods(NodeLane, undefined, 'serve', 'onBytes', 'onBodyEnd', '_read', '_write', '_final');

function headText({ method, url, version, rawHeaders }: ClientRequest): string {
  let text = `${method} ${url} HTTP/${version ?? '1.1'}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (!leftOut.has(name.toLowerCase())) text += `${name}: ${rawHeaders[i + 1]}\r\n`;
  }
  return `${text}\r\n`;
}

const leftOut = new Set(['upgrade', 'expect']);

function readsTheSame(message: IncomingMessage, request: ClientRequest): boolean {
  const { method, url, bodyLength } = request;
  return message.method === method && message.url === url && bodyLengthOf(message) === bodyLength;
}
