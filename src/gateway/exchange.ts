import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { problemStatus, type Problem } from '../domain/problem.ts';
import type { FactKey } from '../ports/facts.ts';
import { AnswerWriter } from './answer-writer.ts';
import type { FinishedExchange } from './finished.ts';
import { Judgement, type Parties } from './judgement.ts';
import { isPreflight } from './preflight.ts';
import { neverSettled, tooSlow, withdrawn } from './refusals.ts';
import { writeProblem } from './refuse.ts';
import { headersFor, type Relay } from './relay.ts';
import { CollectedBody, mostCollectedBytes } from './collected-body.ts';
import { clientGone, reportFinished } from './report.ts';
import { bodyLength, discardRest, RequestBody, type BodyProgress } from './request-body.ts';
import { StallWatch } from './stall-watch.ts';
import type { Stream } from './streams.ts';
import { upstreamProblem } from './upstream-failure.ts';

/**
 * One plain HTTP request on its way through: decided about, handed to the upstream, answered, counted.
 *
 * It is undici's handler itself: raw headers in both directions, no object in between, nothing repeated. undici may
 * keep a request until a connection is free; what was decided by then may not be true any more, so it is decided
 * again in the tick that writes it ({@link Exchange.onConnect}).
 */
export class Exchange implements Stream, Parties, Dispatcher.DispatchHandler {
  place = 0;
  readonly #relay: Relay;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #target: string;
  readonly #requestId: string;
  readonly #startedMs: number;
  readonly #judgement: Judgement;
  readonly #answer: AnswerWriter;
  #state: 'deciding' | 'collecting' | 'queued' | 'sent' | 'over' = 'deciding';
  #body: BodyProgress | null = null;
  #dispatching = false;
  #superseded = 0;
  #dispatchedMs = 0;
  #upstreamMs: number | null = null;
  #abort: ((error?: Error) => void) | null = null;
  #resume: (() => void) | null = null;
  #watch: StallWatch | null = null;

  /** @param target of the request as the client sent it, already judged */
  constructor(
    relay: Relay,
    request: IncomingMessage,
    response: ServerResponse,
    target: string,
    requestId: string,
  ) {
    this.#relay = relay;
    this.#request = request;
    this.#response = response;
    this.#target = target;
    this.#requestId = requestId;
    this.#startedMs = relay.tools.clock.monotonicMs();
    this.#judgement = new Judgement(relay, this);
    this.#answer = new AnswerWriter(response, request.method === 'HEAD');
  }

  /** Takes the request from here to its end. */
  start(): void {
    const { route, tools } = this.#relay;
    tools.streams.enter(this);
    this.#followClient();
    if (route.preflight === 'pass' && isPreflight(this.#request)) this.admitted();
    else this.#judgement.open(this.#request);
  }

  refused(problem: Problem, cause?: unknown): void {
    if (this.#state !== 'over') this.#refuse(problem, cause);
  }

  admitted(): void {
    if (this.#state === 'over') return this.#judgement.close();
    // Decided again, after its body was taken in.
    if (this.#body instanceof CollectedBody) return this.#send(this.#body.content);
    const length = bodyLength(this.#request);
    if (length === 0) return this.#send(null);
    if (length === undefined || length > mostCollectedBytes) {
      const body = new RequestBody(this.#request);
      this.#body = body;
      return this.#send(body);
    }
    this.#state = 'collecting';
    const body = new CollectedBody(this.#request, () => this.#send(body.content));
    this.#body = body;
  }

  #send(body: RequestBody | Buffer | null): void {
    const { upstream, tools } = this.#relay;
    const request = this.#request;
    // Nothing was waited for since the decision, unless there was a body to take in.
    const deciding = this.#state === 'deciding';
    this.#state = 'queued';
    this.#dispatchedMs = tools.clock.monotonicMs();
    this.#dispatching = deciding;
    upstream.dispatch(
      {
        path: this.#target,
        method: request.method as Dispatcher.HttpMethod,
        headers: headersFor(this.#relay, request, this.#requestId, this.#judgement.admission),
        body,
        servername: upstream.servername,
      },
      this,
    );
    this.#dispatching = false;
  }

  onConnect(abort: (error?: Error) => void): void {
    // Thrown here, an error takes the request out of the queue and leaves the connection alone.
    if (this.#state === 'over') throw new Error('the exchange is over');
    if (!this.#dispatching && !this.#judgement.stillHolds()) throw new Superseded();
    this.#state = 'sent';
    this.#abort = abort;
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void, statusText: string): boolean {
    // 1xx are between the upstream and us.
    if (status < 200 || this.#state === 'over') return true;
    const { tools } = this.#relay;
    this.#upstreamMs = tools.clock.monotonicMs() - this.#dispatchedMs;
    const tenant = this.#judgement.admission?.permit.resolvedTenant ?? null;
    const { headers, contentLength } = tools.answers.headers(rawHeaders, this.#requestId, tenant);
    this.#resume = resume;
    this.#answer.begin(status, statusText, headers, contentLength, this.#onDrain);
    return true;
  }

  onData(chunk: Buffer): boolean {
    return this.#state === 'over' || this.#answer.data(chunk);
  }

  readonly #onDrain = (): void => this.#resume?.();

  onComplete(rawTrailers: (Buffer | string)[] | null): void {
    if (this.#state === 'over') return;
    const trailers = rawTrailers?.length ? this.#relay.tools.answers.trailers(rawTrailers) : [];
    if (this.#answer.end(trailers)) this.#finish(this.#answer.status, null);
  }

  onError(error: Error): void {
    if (this.#state === 'over') return;
    if (error instanceof Superseded) return this.#decideAgain();
    if (!this.#answer.started) return this.#refuse(upstreamProblem(error), error);
    this.#finish(this.#answer.status, 'cut_by_upstream', error);
    // Cut, so that the client does not take what it has for all there is.
    this.#response.destroy();
  }

  #decideAgain(): void {
    if (++this.#superseded > mostSuperseded) return this.#refuse(neverSettled);
    if (this.#body instanceof RequestBody) {
      this.#body.destroy();
      this.#body = null;
    }
    this.#state = 'deciding';
    this.#judgement.reopen();
  }

  #followClient(): void {
    // Behind other answers on a pipelined connection a response does not hear of the connection's end.
    const queued = this.#response.socket === null;
    const closing = queued ? this.#request.socket.setMaxListeners(0) : this.#response;
    closing.on('close', this.#onClose);
  }

  readonly #onClose = (): void => {
    if (this.#state === 'over') return;
    if (this.#response.writableFinished) return this.#finish(this.#answer.status, null);
    this.#finish(this.#answer.started ? this.#answer.status : clientGone, 'client_gone');
    this.#abort?.(new Error('the client is gone'));
  };

  #refuse(problem: Problem, cause?: unknown): void {
    const tenant = this.#judgement.admission?.permit.resolvedTenant;
    this.#answer.bytes = writeProblem(this.#response, problem, {
      target: this.#target,
      requestId: this.#requestId,
      headers: tenant === undefined ? [] : [this.#relay.tools.names.resolvedTenant, tenant],
    });
    this.#finish(problemStatus(problem.code), problem.code, cause);
  }

  #finish(status: number, code: FinishedExchange['code'], cause?: unknown): void {
    this.#state = 'over';
    reportFinished(this.#relay, this.#judgement, {
      requestId: this.#requestId,
      method: this.#request.method ?? '',
      target: this.#target,
      status,
      code,
      startedMs: this.#startedMs,
      upstreamMs: this.#upstreamMs,
      bytesIn: this.#body?.bytes ?? 0,
      bytesOut: this.#answer.bytes,
      cause,
    });
    this.#relay.tools.streams.leave(this);
    this.#judgement.close();
    this.#body?.destroy();
    if (!this.#request.complete && bodyLength(this.#request) !== 0) discardRest(this.#request);
  }

  livesBy(): readonly FactKey[] {
    return this.#judgement.livesBy();
  }

  withdraw(): boolean {
    // What has not been sent yet is decided again when it is.
    if (this.#state !== 'sent') return false;
    this.#end(withdrawn, 'withdrawn');
    return true;
  }

  check(nowMs: number): void {
    const { route, tools } = this.#relay;
    if (this.#state === 'queued' && nowMs - this.#dispatchedMs > route.timeouts.connectMs) {
      return this.#refuse(upstreamProblem({ code: 'UND_ERR_CONNECT_TIMEOUT' }));
    }
    if (this.#state !== 'sent' && this.#state !== 'collecting') return;
    if (this.#judgement.expired) return this.#end(withdrawn, 'withdrawn');
    this.#watch ??= new StallWatch(tools.limits.bodyIdleMs);
    const waitsForClient = this.#body?.starving === true || this.#response.writableLength > 0;
    const progress = (this.#body?.bytes ?? 0) + (this.#response.socket?.bytesWritten ?? 0);
    if (this.#watch.stalled(waitsForClient, progress, nowMs)) this.#end(tooSlow, 'request_timeout');
  }

  /** Ends it with a refusal while there is room for one, with a cut otherwise. */
  #end(problem: Problem, code: FinishedExchange['code']): void {
    const cut = this.#answer.started;
    if (cut) this.#finish(this.#answer.status, code);
    else this.#refuse(problem);
    this.#abort?.(new Error(problem.detail));
    if (cut) this.#response.destroy();
  }
}

/** What was decided no longer holds by the time a connection is free. */
class Superseded extends Error {}

/** Facts that are forgotten as fast as they are loaded must not keep a request going round for ever. */
const mostSuperseded = 10;
