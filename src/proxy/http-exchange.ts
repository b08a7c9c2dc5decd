import type { IncomingMessage, ServerResponse } from 'node:http';
import { BufferedBody, mostBufferedBytes } from './body/buffered-body.ts';
import { ResponseWriter } from './body/response-writer.ts';
import { discardRest, StreamedBody, type BodyProgress } from './body/streamed-body.ts';
import { Exchange, type ResponseProgress } from './exchange.ts';
import { clientGone } from './finish.ts';
import { SideTimeouts } from './idle-timeout.ts';
import type { RequestHead } from './ingress/framing.ts';
import { isPreflight } from './ingress/preflight.ts';
import { accessRevoked, tooSlow, upstreamProblem } from './problems.ts';
import type { Route } from './route.ts';
import type { InFlightRequest, ResponseHandler } from './upstream/connection.ts';
import { UpstreamTimeout } from './upstream/errors.ts';
import type { ResponseHead } from './upstream/response-head.ts';

/**
 * One plain HTTP request on its way through.
 *
 * Raw headers in both directions, nothing repeated. A request may have to wait until a connection is free; what was
 * decided by then may not be true any more, so it is decided again in the tick that writes it
 * ({@link HttpExchange.onSending}).
 */
export class HttpExchange extends Exchange implements ResponseHandler {
  readonly #writer: ResponseWriter;
  /** Bytes; `undefined` where the body ends when it ends. */
  #bodyLength: number | undefined = 0;
  #body: BodyProgress | null = null;
  #inFlight: InFlightRequest | null = null;
  #timeouts: SideTimeouts | null = null;

  constructor(route: Route, request: IncomingMessage, response: ServerResponse, requestId: string) {
    super(route, request, response, requestId);
    this.#writer = new ResponseWriter(response, request.method === 'HEAD');
  }

  start(head: RequestHead): void {
    this.#bodyLength = head.bodyLength;
    // Read from a connection that has broken since: no client waits for the response.
    if (this.request.socket.destroyed) return this.finish(clientGone, 'client_gone');
    this.#followClient();
    if (this.route.config.preflight === 'pass' && isPreflight(this.request)) this.admitted();
    else this.decideAbout(head);
  }

  protected admitted(): void {
    // Decided again, after its body was taken in.
    if (this.#body instanceof BufferedBody) return this.#send(this.#body.content);
    if (this.#bodyLength === 0) return this.#send(null);
    if (this.#bodyLength === undefined || this.#bodyLength > mostBufferedBytes) {
      const body = new StreamedBody(this.request, this.#bodyLength);
      this.#body = body;
      return this.#send(body);
    }
    this.state = 'receiving';
    const body = new BufferedBody(this.request, () => this.#send(body.content));
    this.#body = body;
  }

  #send(body: StreamedBody | Buffer | null): void {
    const { upstream, deps } = this.route;
    this.state = this.state === 'deciding' ? 'ready' : 'queued';
    this.waitingSinceMs = deps.clock.monotonicMs();
    const headers = this.upstreamHeaders();
    upstream.send({ method: this.request.method ?? '', target: this.target, headers, body }, this, this);
    // Not sent in this tick: it waits for a connection now.
    if (this.state === 'ready') this.state = 'queued';
  }

  onSending(inFlight: InFlightRequest): boolean {
    if (this.state === 'finished') return false;
    if (this.request.socket.destroyed) {
      this.finish(clientGone, 'client_gone');
      return false;
    }
    if (this.state === 'queued' && !this.decision.stillHolds()) {
      if (this.#body instanceof StreamedBody) this.#body = null;
      this.decideAgain();
      return false;
    }
    this.state = 'sent';
    this.#inFlight = inFlight;
    return true;
  }

  onHead({ status, reason, headers: rawHeaders }: Pick<ResponseHead, 'status' | 'reason' | 'headers'>): void {
    const { clock, responseHeaders } = this.route.deps;
    this.upstreamMs = clock.monotonicMs() - this.waitingSinceMs;
    const tenant = this.decision.admission?.permit.resolvedTenant ?? null;
    const { headers, contentLength } = responseHeaders.headers(status, rawHeaders, this.requestId, tenant);
    this.#writer.begin(status, reason, headers, contentLength, this.#onDrain);
    if (this.#writer.started) this.state = 'responding';
  }

  onBody(chunk: Buffer): boolean {
    return this.#writer.data(chunk);
  }

  readonly #onDrain = (): void => this.#inFlight?.resume();

  onEnd(rawTrailers: readonly string[]): void {
    this.#inFlight = null;
    const trailers = rawTrailers.length > 0 ? this.route.deps.responseHeaders.trailers(rawTrailers) : [];
    if (this.#writer.end(trailers)) this.finish(this.#writer.status, null);
  }

  onFailure(error: Error): void {
    this.#inFlight = null;
    if (this.state === 'finished') return;
    if (!this.#writer.started) return this.reject(upstreamProblem(error), error);
    this.finish(this.#writer.status, 'cut_by_upstream', error);
    // Cut, so that the client does not take what it has for all there is.
    this.response.destroy();
  }

  #followClient(): void {
    // Behind other responses on a pipelined connection a response does not hear of the connection's end.
    const queued = this.response.socket === null;
    const closing = queued ? this.request.socket.setMaxListeners(0) : this.response;
    closing.on('close', this.#onClose);
  }

  readonly #onClose = (): void => {
    if (this.state === 'finished') return;
    if (this.response.writableFinished) return this.finish(this.#writer.status, null);
    this.finish(this.#writer.started ? this.#writer.status : clientGone, 'client_gone');
  };

  check(nowMs: number): void {
    if (this.state === 'queued' && nowMs - this.waitingSinceMs > this.route.config.timeouts.connectMs) {
      const error = new UpstreamTimeout('have a connection free');
      return this.reject(upstreamProblem(error), error);
    }
    if (this.state !== 'sent' && this.state !== 'responding' && this.state !== 'receiving') return;
    if (this.decision.expired) return this.endEarly(accessRevoked, 'withdrawn');
    const awaited = this.#writer.status === 0 ? 'head' : 'body';
    this.#timeouts ??= new SideTimeouts(this.route.config, this.route.deps.limits);
    const silent = this.#timeouts.silentSide(
      {
        waitsForClient: this.#body?.starving === true || this.response.writableLength > 0,
        clientProgress: (this.#body?.bytes ?? 0) + (this.response.socket?.bytesWritten ?? 0),
        upstreamProgress: this.#inFlight?.progress ?? null,
        awaited,
      },
      nowMs,
    );
    if (silent === 'client') return this.endEarly(tooSlow, 'request_timeout');
    if (silent === 'upstream') {
      this.#abort();
      this.onFailure(new UpstreamTimeout(`send the ${awaited} of its response`));
    }
  }

  /** A response comes to its end by itself. */
  goAway(): void {}

  protected closeOpen(): void {
    throw new Error('an HTTP exchange is never open');
  }

  protected progress(): ResponseProgress {
    const { status, bytes } = this.#writer;
    return { status, bytesIn: this.#body?.bytes ?? 0, bytesOut: bytes };
  }

  protected release(): void {
    this.#abort();
    this.#body?.destroy();
    if (!this.request.complete && this.#bodyLength !== 0) discardRest(this.request);
  }

  #abort(): void {
    this.#inFlight?.abort();
    this.#inFlight = null;
  }
}
