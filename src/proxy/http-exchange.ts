import { Fault, guarded, guardMethods } from '../http/guarded.ts';
import { Patience } from '../http/patience.ts';
import { bodyStopped } from '../http/unfinished-body.ts';
import type { ClientResponse } from '../http/client-request.ts';
import type { Share } from '../limits/shares.ts';
import { clientGone } from '../ports/request-record.ts';
import { mostBufferedBytes, mostHeldMs, RequestBody, type BodyOwner } from './body/request-body.ts';
import { ResponseWriter } from './body/response-writer.ts';
import type { ResponseProgress } from './ending-exchange.ts';
import { Exchange } from './exchange.ts';
import type { FilteredHeaders } from './headers/response-headers.ts';
import type { RequestHead } from './ingress/framing.ts';
import { isPreflight } from './ingress/preflight.ts';
import { accessRevoked, lengthRequired, tooManyEventStreams, upstreamProblem } from './problems.ts';
import type { Route } from './route.ts';
import type { AnsweredHead, InFlightRequest, ResponseHandler } from './upstream/upstream-client.ts';
import { UpstreamTimeout } from './upstream/errors.ts';
import { noteVersion } from './upstream/upstream.ts';

/** Head of a response as the client gets it. */
type PassedHead = Pick<AnsweredHead, 'status' | 'reason'> &
  Pick<FilteredHeaders, 'headers' | 'contentLength'>;

/** A response that the client does not get yet: its head, and the parts that have followed it. */
interface HeldResponse {
  readonly head: PassedHead;
  readonly body: Buffer[];
  /** Number of bytes in {@link body}. */
  bytes: number;
  /** Trailers, as a flat list of names and values, once the response has ended; `null` until then. */
  trailers: readonly string[] | null;
}

/**
 * One plain HTTP request and its response.
 *
 * Headers stay flat lists of names and values in both directions, because converting them to objects and back would
 * take time. A request may wait for a free connection, and the process may be suspended at any moment. So two methods
 * check the decision again right before the request is written: `mayStillSend` and `sending`.
 */
export class HttpExchange extends Exchange implements ResponseHandler, BodyOwner {
  leaveQueue: (() => Error) | null = null;
  readonly #writer: ResponseWriter;
  #body: RequestBody | null = null;
  #inFlight: InFlightRequest | null = null;
  /** The response, while the limits' store is told what it was worth; otherwise `null`. */
  #held: HeldResponse | null = null;
  /** Patience with the client, and with the upstream before and in its response; `null` before the first check. */
  #patience: Readonly<Record<'client' | 'head' | 'body', Patience>> | null = null;
  /** Whether the request got its connection in the same turn of the event loop as its decision. */
  #sameTurn = false;
  #repeated = false;
  /** The tenant's shares that count this exchange as an event stream. */
  #streams: Share[] | null = null;

  constructor(route: Route, response: ClientResponse, requestId: string) {
    super(route, response, requestId);
    this.#writer = new ResponseWriter(response, this);
  }

  start(head: RequestHead): void {
    // The connection broke after the request was read, so no client is waiting for the response.
    if (this.request.socket.destroyed) return this.finish(clientGone, 'client_gone');
    this.response.onClose = this.#onClose;
    const { cors, config } = this.route;
    if (cors !== null && isPreflight(this.request, head)) {
      this.response.onClose = null;
      const headers = [...cors.preflight(this.request.header('origin')), 'x-request-id', this.requestId];
      // A preflight cannot be authorised, because browsers send no key with it.
      this.response.send(204, 'No Content', headers, undefined, '');
      this.finish(204, null);
    } else if (config.preflight === 'pass' && isPreflight(this.request, head)) {
      this.passPreflight();
    } else this.decideAbout(head);
  }

  protected admitted(): void {
    // A request that is decided again may already have its body object.
    if (this.#body !== null) return this.#send(this.#body.content ?? this.#body);
    const length = this.request.bodyLength;
    if (length === 0) return this.#send(null);
    const body = (this.#body = new RequestBody(this.request, length, this));
    // HTTP/1.0 has no chunks. So a chunked body is held unless the upstream is known to accept HTTP/1.1.
    const isHeld = length === undefined ? this.route.upstream.version !== '1.1' : length <= mostBufferedBytes;
    if (!isHeld) return this.#send(body);
    this.state = 'receiving';
    this.waitingSinceMs = this.route.deps.clock.monotonicMs();
    body.hold();
  }

  onBuffered(content: Buffer): void {
    this.#send(content);
  }

  /** Streams a body that cannot be held. If the upstream does not accept chunks, rejects the request instead. */
  onNotHeld(): void {
    if (this.route.upstream.version === '1.0') this.reject(lengthRequired);
    else this.#stream();
  }

  #stream(): void {
    this.#body?.pause();
    this.#send(this.#body);
  }

  #send(body: RequestBody | Buffer | null): void {
    const { upstream, deps } = this.route;
    this.state = this.state === 'deciding' ? 'ready' : 'queued';
    this.waitingSinceMs = deps.clock.monotonicMs();
    const headers = this.upstreamHeaders();
    const { admittedAs } = this.decision;
    upstream.send({ method: this.request.method, target: this.target, headers, body, admittedAs }, this);
    // From here on, facts may change before the request is sent.
    if (this.state === 'ready') this.state = 'queued';
  }

  onReserved(): void {
    this.#sameTurn = this.state === 'ready';
  }

  mayStillSend(): boolean {
    if (this.state === 'finished') return false;
    if (this.request.socket.destroyed) {
      this.finish(clientGone, 'client_gone');
      return false;
    }
    if (!this.decision.stillHolds(this.#sameTurn)) {
      this.decideAgain();
      return false;
    }
    this.counted.handOver(this.decision.admission);
    return true;
  }

  sending(inFlight: InFlightRequest): boolean {
    if (!this.decision.mayAct()) {
      if (!this.#repeated) this.counted.takeBack();
      this.decideAgain();
      return false;
    }
    this.state = 'sent';
    this.#inFlight = inFlight;
    return true;
  }

  onEarlyHints(rawHeaders: readonly string[]): void {
    this.#writer.earlyHints(() => this.withOwn(this.responseHeaders(103, rawHeaders).headers));
  }

  onHead({ version, status, reason, headers: rawHeaders }: AnsweredHead): void {
    if (version !== '1.1' || this.route.upstream.version !== '1.1') {
      const inChunks = this.request.bodyLength === undefined && this.#body?.content === null;
      const fault = noteVersion(this.route.upstream, version, status, inChunks);
      if (fault !== undefined) return this.#giveUp(fault);
    }
    this.upstreamMs = this.route.deps.clock.monotonicMs() - this.waitingSinceMs;
    const { headers, contentLength, units } = this.responseHeaders(status, rawHeaders);
    if (contentLength === undefined && isEventStream(headers)) {
      const { permit } = this.decision.admittedAs;
      this.#streams = this.route.deps.concurrency.beginStream(permit, this.route.config);
      if (this.#streams === null) {
        this.#abort();
        return this.reject(tooManyEventStreams);
      }
    }
    const mayBegin = units === null || this.countUnits(units, this.#onTold);
    const head = { status, reason, headers: this.withOwn(headers), contentLength };
    if (mayBegin) this.#begin(head);
    else this.#held = { head, body: [], bytes: 0, trailers: null };
  }

  #begin({ status, reason, headers, contentLength }: PassedHead): void {
    this.#writer.begin(status, reason, headers, contentLength, this.#onDrain);
    if (this.state === 'sent' && this.#writer.started) this.state = 'responding';
  }

  /** Passes on the response that was held. */
  readonly #onTold = guarded(this, () => {
    const held = this.#held;
    this.#held = null;
    if (held === null || this.state === 'finished') return;
    this.#begin(held.head);
    let goesOn = true;
    for (const chunk of held.body) goesOn = this.#writer.data(chunk, false);
    if (held.trailers !== null) this.onEnd(held.trailers);
    else if (goesOn) this.#inFlight?.resume();
  });

  onBody(chunk: Buffer, isLent: boolean): boolean {
    if (this.#held === null) return this.#writer.data(chunk, isLent);
    this.#held.body.push(isLent ? Buffer.from(chunk) : chunk);
    this.#held.bytes += chunk.length;
    return false;
  }

  readonly #onDrain = guarded(this, () => this.#inFlight?.resume());

  onEnd(rawTrailers: readonly string[]): void {
    this.#inFlight = null;
    if (this.#held !== null) {
      this.#held.trailers = rawTrailers;
      return;
    }
    const trailers = rawTrailers.length > 0 ? this.route.responseHeaders.trailers(rawTrailers) : rawTrailers;
    if (this.#writer.end(trailers)) this.finish(this.#writer.status, null);
  }

  onFailure(error: Error): void {
    this.#inFlight = null;
    if (this.state === 'finished') return;
    if (error instanceof Fault) return this.broke(error);
    if (!this.#writer.started) return this.reject(upstreamProblem(error), error);
    this.finish(this.#writer.status, 'cut_by_upstream', error);
    // Cuts the response short, so that the client does not mistake the partial body for the whole.
    this.response.cut();
  }

  onUnanswered(): boolean {
    this.#inFlight = null;
    if (this.state !== 'sent' || this.#repeated) return false;
    this.#repeated = true;
    this.#patience = null;
    this.state = 'queued';
    this.waitingSinceMs = this.route.deps.clock.monotonicMs();
    return true;
  }

  onRefused(error: Error): void {
    if (this.state !== 'finished') this.counted.handOver(this.decision.admission);
    this.onFailure(error);
  }

  readonly #onClose = guarded(this, (isWhole: boolean) => {
    if (this.state === 'finished') return;
    if (isWhole) return this.finish(this.#writer.status, null);
    this.finish(this.#writer.started ? this.#writer.status : clientGone, 'client_gone');
  });

  check(nowMs: number): void {
    if (this.state === 'queued' && nowMs - this.waitingSinceMs > this.route.config.timeouts.connectMs) {
      const error = this.leaveQueue?.() ?? new UpstreamTimeout('accept a connection');
      return this.reject(upstreamProblem(error), error);
    }
    if (this.state === 'receiving' && this.request.bodyLength === undefined) this.#checkHeld(nowMs);
    if (this.state !== 'sent' && this.state !== 'responding' && this.state !== 'receiving') return;
    if (this.decision.checkExpiry()) return this.endEarly(accessRevoked, 'withdrawn');
    this.isAboveShare();
    const patience = (this.#patience ??= this.#newPatience());
    const waitsForClient = this.#body?.starving === true || this.response.unsentBytes > 0;
    const clientProgress = (this.#body?.bytes ?? 0) + this.request.socket.bytesWritten;
    if (patience.client.isOver(waitsForClient, clientProgress, nowMs))
      return this.endEarly(bodyStopped, 'request_timeout');
    const awaited = this.#writer.status === 0 ? 'head' : 'body';
    const progress = this.#inFlight?.progress;
    if (patience[awaited].isOver(progress !== undefined && !waitsForClient, progress ?? 0, nowMs))
      this.#giveUp(new UpstreamTimeout(`send the ${awaited} of its response`));
  }

  #newPatience(): Readonly<Record<'client' | 'head' | 'body', Patience>> {
    const { config, deps } = this.route;
    return {
      client: new Patience(deps.limits.bodyIdleMs, deps.limits.minBodyBytesPerMinute),
      head: new Patience(config.timeouts.headersMs),
      body: new Patience(config.timeouts.bodyMs),
    };
  }

  /** Closes the upstream connection, which cannot be used again, and fails the exchange. */
  #giveUp(error: Error): void {
    this.#abort();
    this.onFailure(error);
  }

  /** Streams a held body once chunks may be sent, because some clients send the rest only during the response. */
  #checkHeld(nowMs: number): void {
    const { version } = this.route.upstream;
    const wait = version === null && nowMs - this.waitingSinceMs <= mostHeldMs;
    if (version !== '1.0' && !wait) this.#stream();
  }

  protected progress(): ResponseProgress {
    const { status, bytes } = this.#writer;
    return { status, bytesIn: this.#body?.bytes ?? 0, bytesOut: bytes };
  }

  get heldBytes(): number {
    return (this.#body?.heldBytes ?? 0) + (this.#inFlight?.heldBytes ?? 0) + (this.#held?.bytes ?? 0);
  }

  protected release(): void {
    this.leaveQueue?.();
    for (const share of this.#streams ?? []) share.streams -= 1;
    this.#streams = null;
    this.#body?.destroy();
    this.#abort();
  }

  #abort(): void {
    this.#inFlight?.abort();
    this.#inFlight = null;
  }
}

function isEventStream(headers: readonly string[]): boolean {
  return headers.some(
    (name, at) =>
      name.length === 12 && name.toLowerCase() === 'content-type' && eventStream.test(headers[at + 1] ?? ''),
  );
}

const eventStream = /^text\/event-stream\b/i;

guardMethods(HttpExchange, undefined, 'start', 'check', 'onBuffered', 'onNotHeld', 'onReserved');
guardMethods(HttpExchange, undefined, 'onEarlyHints', 'onHead', 'onEnd', 'onFailure', 'onRefused');
guardMethods(HttpExchange, false, 'mayStillSend', 'sending', 'onUnanswered');
guardMethods(HttpExchange, true, 'onBody');
