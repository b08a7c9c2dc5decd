import { Readable } from 'node:stream';
import type { Client, Dispatcher } from 'undici';
import { Fault, guarded, guardMethods, type Breakable } from '../../http/guarded.ts';
import { hasOption } from '../../http1/fields.ts';
import { pieceWork, restsAfter } from '../../http/turn.ts';
import type { UsageSink } from '../../ports/usage.ts';
import type { InFlightRequest, ResponseHandler } from '../upstream/upstream-client.ts';
import type { BodySource, OutgoingRequest } from '../upstream/message-head.ts';
import type { PausableReading } from './pausable-reading.ts';

/** Connection on which a {@link ForwardedRequest} is sent. */
interface PausableConnection {
  /** Reader of the current connection; `null` before there is a connection. */
  readonly reading: PausableReading | null;
  readonly client: Client;
  readonly usage: Pick<UsageSink, 'commit'>;
  /**
   * Host name of the upstream. Without it undici would open a separate connection for each `Host` that clients send.
   */
  readonly hostname: string;
  /** Called with the error, or with `null`, once undici has finished with the request. */
  finished(error: Error | null): void;
}

/** One request forwarded by undici. The exchange sees the same events as with the gateway's own connections. */
export class ForwardedRequest implements Dispatcher.DispatchHandler, InFlightRequest, Breakable {
  /** Grows with every byte sent and, after the head of the response, with every byte received. */
  progress = 0;
  readonly #request: OutgoingRequest;
  readonly #handler: ResponseHandler;
  readonly #body: Readable | Buffer | null;
  readonly #connection: PausableConnection;
  #controller: Dispatcher.DispatchController | null = null;
  #reading: PausableReading | null = null;
  /** Chunks of the response in the last read of the socket, passed on at once: each alone would take a write. */
  #chunks: Buffer[] = [];
  /** Reports the response or the failure to @fastify/http-proxy, which plays no other part in the exchange. */
  #toProxy: (error: Error | null, response?: object) => void = () => undefined;
  #sending = false;
  #startBody: (() => void) | null = null;
  /** Whether the client takes no more bytes of the response for now. */
  #isFull = false;
  /** Whether nothing is read until a later turn of the event loop. */
  #rests = false;
  #over = false;
  /** Whether the upstream has said that it will close the connection. */
  #last = false;

  constructor(request: OutgoingRequest, handler: ResponseHandler, connection: PausableConnection) {
    this.#request = request;
    this.#connection = connection;
    this.#handler = handler;
    this.#body =
      request.body === null || Buffer.isBuffer(request.body) ? request.body : this.#readable(request.body);
  }

  /** Sends the request, with its target and headers byte for byte. @param toProxy callback of @fastify/http-proxy */
  dispatch(toProxy: (error: Error | null, response?: object) => void): void {
    this.#toProxy = toProxy;
    const { client, hostname } = this.#connection;
    const { method, target, headers } = this.#request;
    const options = {
      method,
      path: target,
      headers: [...headers],
      body: this.#body,
      // undici keeps a separate connection for each server name, so all requests use the same name.
      servername: hostname,
    };
    client.dispatch(options, this);
  }

  /** Called in the tick in which undici writes the request. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over || !this.#handOver()) {
      this.#over = true;
      return controller.abort(new Error('the request is not to be sent after all'));
    }
    this.#sending = true;
    this.#reading = this.#connection.reading;
    if (this.#reading !== null) {
      this.#reading.onBroken = guarded(this, (error: Error) => this.#fail(error));
      this.#reading.onRead = this.#passOn;
    }
    this.#startBody?.();
  }

  /**
   * Counts the request, and returns whether it may be written. The request is not counted together with others, because
   * undici writes it right after this call.
   */
  #handOver(): boolean {
    this.#handler.onReserved();
    if (!this.#handler.mayStillSend()) return false;
    this.#connection.usage.commit();
    return this.#handler.sending(this);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    reason = '',
  ): void {
    if (this.#over) return;
    if (status === 103) this.#handler.onEarlyHints(texts(controller.rawHeaders));
    // Other interim responses concern only the connection to the upstream.
    if (status < 200) return;
    this.progress += 1;
    this.#toProxy(null, { statusCode: status, headers: {}, body: unused });
    const version = this.#reading?.version ?? null;
    const headers = texts(controller.rawHeaders);
    this.#last = saysClose(headers);
    this.#handler.onHead({ version, status, reason: plain(reason), headers });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.progress += chunk.length;
    this.#chunks.push(chunk);
  }

  readonly #passOn = guarded(this, () => {
    const chunks = this.#chunks;
    const [first] = chunks;
    if (first === undefined || this.#over) return;
    this.#chunks = [];
    const bytes = chunks.length === 1 ? first : Buffer.concat(chunks);
    const work = bytes.length + pieceWork * chunks.length;
    this.#isFull = !this.#handler.onBody(bytes, false);
    this.#rests = this.#reading !== null && restsAfter(work, this.#goOn, this.#handler);
    if (this.#isFull || this.#rests) this.#reading?.pause();
  });

  readonly #goOn = guarded(this, () => {
    this.#rests = false;
    // The connection may have a new request already.
    if (!this.#over && !this.#isFull) this.#reading?.resume();
  });

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    const reading = this.#reading;
    // Nothing more is read of it, so it does not rest.
    this.#reading = null;
    this.#passOn();
    reading?.release();
    this.#connection.finished(this.#last ? new Error('the response was the last of its connection') : null);
    if (this.#over) return;
    this.#over = true;
    this.#handler.onEnd(texts(controller.rawTrailers));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#connection.finished(error);
    this.#fail(error, this.#sending);
  }

  /** @param isConnected whether undici could connect */
  #fail(error: Error, isConnected = true): void {
    this.#toProxy(error);
    if (this.#over) return;
    this.#over = true;
    if (isConnected) this.#handler.onFailure(error);
    else this.#handler.onRefused(error);
  }

  broke(error: unknown): void {
    const fault = new Fault(error);
    this.#controller?.abort(fault);
    this.#connection.finished(fault);
    this.#fail(fault);
  }

  get heldBytes(): number {
    const body = this.#body instanceof Readable ? this.#body.readableLength : 0;
    return body + (this.#reading?.heldBytes ?? 0);
  }

  resume(): void {
    this.#isFull = false;
    if (!this.#rests) this.#reading?.resume();
  }

  abort(): void {
    this.#over = true;
    this.#reading?.resetAtEnd();
    this.#controller?.abort(new Error('the exchange is over'));
  }

  /**
   * Returns the body as a stream. The body is not read before the request is sent, because until then the request may
   * have to be decided again.
   */
  #readable(source: BodySource): Readable {
    let started = false;
    const start = (): void => {
      started = true;
      source.start({
        write: (chunk) => {
          this.progress += chunk.length;
          return stream.push(chunk);
        },
        end: () => void stream.push(null),
        hasSentAll: false,
      });
    };
    const stream = new Readable({
      read: guarded(this, () => {
        if (started) source.resume();
        else if (this.#sending) start();
        else this.#startBody = start;
      }),
    });
    // undici reports the error as well. Without this listener, the error would crash the process.
    stream.on('error', () => undefined);
    return stream;
  }
}

guardMethods(ForwardedRequest, undefined, 'onRequestStart', 'onResponseStart');
guardMethods(ForwardedRequest, undefined, 'onResponseData', 'onResponseEnd', 'onResponseError');

/** undici overlooks a `close` beside `keep-alive`, or with a TAB behind it. */
function saysClose(headers: readonly string[]): boolean {
  return headers.some(
    (value, at) => headers[at - 1]?.toLowerCase() === 'connection' && hasOption(value.toLowerCase(), 'close'),
  );
}

/**
 * Stands in for the response body. If the client has left, @fastify/http-proxy destroys the stand-in. Only the exchange
 * may end the real body.
 */
const unused = { destroy: () => undefined };

/**
 * Drops a reason phrase that contains non-ASCII bytes: undici has read it as UTF-8, which loses such bytes, and Node
 * would refuse to write the result.
 */
function plain(reason: string): string {
  return /^[\t -~]*$/.test(reason) ? reason : '';
}

/** Returns raw headers as text. undici passes them as bytes. */
function texts(raw: unknown): string[] {
  return Array.isArray(raw) ? raw.map((each: Buffer | string) => each.toString('latin1' as never)) : [];
}
