import { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import type { InFlightRequest, ResponseHandler } from '../upstream/connection.ts';
import type { BodySource, OutgoingRequest } from '../upstream/request-head.ts';
import type { PausableClient, PausableOptions, PausableRequest } from './pausable-client.ts';
import type { PausableReading } from './pausable-reading.ts';

/** One request on its way through undici: tells the exchange what becomes of it, as a connection of our own would. */
export class ForwardedRequest implements Dispatcher.DispatchHandler, InFlightRequest, PausableRequest {
  /** Grows with everything that goes out or comes in. */
  progress = 0;
  readonly #request: OutgoingRequest;
  readonly #handler: ResponseHandler;
  readonly #hostname: string;
  readonly #body: Readable | Buffer | null;
  #connection: PausableClient | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #reading: PausableReading | null = null;
  /** Tells @fastify/http-proxy of the response, or of the failure; it has no part in what follows. */
  #toProxy: (error: Error | null, response?: object) => void = () => undefined;
  #sending = false;
  #startBody: (() => void) | null = null;
  #over = false;

  /** @param hostname of the upstream: without it undici would open other connections for each `Host` that clients send */
  constructor(request: OutgoingRequest, handler: ResponseHandler, hostname: string) {
    this.#request = request;
    this.#hostname = hostname;
    this.#handler = handler;
    this.#body =
      request.body === null || Buffer.isBuffer(request.body) ? request.body : this.#readable(request.body);
  }

  /** Puts it into undici's line: target and headers as the exchange gave them, byte for byte. */
  dispatch(pool: Pool, toProxy: (error: Error | null, response?: object) => void): void {
    this.#toProxy = toProxy;
    const { method, target, headers } = this.#request;
    const options: PausableOptions = {
      method,
      path: target,
      headers: [...headers],
      body: this.#body,
      servername: this.#hostname,
      pausable: this,
    };
    pool.dispatch(options, this);
  }

  goesBy(connection: PausableClient): void {
    this.#connection = connection;
  }

  /** Called in the tick in which undici writes the request. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over || !this.#handler.onSending(this)) {
      this.#over = true;
      return controller.abort(new Error('the request is not to be sent after all'));
    }
    this.#sending = true;
    this.#reading = this.#connection?.reading ?? null;
    if (this.#reading !== null) this.#reading.onBroken = (error) => this.fail(error);
    this.#startBody?.();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    reason = '',
  ): void {
    this.progress += 1;
    // What is between the two ends of this connection.
    if (status < 200 || this.#over) return;
    this.#toProxy(null, { statusCode: status, headers: {}, body: unused });
    this.#handler.onHead({ status, reason: plain(reason), headers: texts(controller.rawHeaders) });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.progress += chunk.length;
    if (!this.#over && !this.#handler.onBody(chunk)) this.#reading?.pause();
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#reading?.release();
    if (this.#over) return;
    this.#over = true;
    this.#handler.onEnd(texts(controller.rawTrailers));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** It has failed, or was given up. */
  fail(error: Error): void {
    this.#toProxy(error);
    if (this.#over) return;
    this.#over = true;
    this.#handler.onFailure(error);
  }

  resume(): void {
    this.#reading?.resume();
  }

  abort(): void {
    this.#over = true;
    this.#controller?.abort(new Error('the exchange is over'));
  }

  /** The body as a stream. Nothing of it is read before the request is sent: until then it may have to be decided again. */
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
      });
    };
    const stream = new Readable({
      read: () => {
        if (started) source.resume();
        else if (this.#sending) start();
        else this.#startBody = start;
      },
    });
    // undici hears of it too; without a listener it would end the process.
    stream.on('error', () => undefined);
    return stream;
  }
}

/** @fastify/http-proxy destroys the body of a response whose client has left; ours is the exchange's to end. */
const unused = { destroy: () => undefined };

/** undici reads a reason as UTF-8, so that bytes beyond ASCII are lost in it; Node would not write what it makes of them. */
function plain(reason: string): string {
  return /^[\t -~]*$/.test(reason) ? reason : '';
}

/** undici hands raw headers over as bytes. */
function texts(raw: unknown): string[] {
  return Array.isArray(raw) ? raw.map((each: Buffer | string) => each.toString('latin1' as never)) : [];
}
