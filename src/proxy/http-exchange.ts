import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemStatus, type Problem } from '../domain/problem.ts';
import type { FactKey } from '../ports/facts.ts';
import { AnswerWriter } from './body/response-writer.ts';
import type { RequestRecord } from '../ports/request-record.ts';
import { Judgement, type Parties } from './decision.ts';
import { isPreflight } from './ingress/preflight.ts';
import { neverSettled, tooSlow, withdrawn, upstreamProblem } from './problems.ts';
import { writeProblem } from './write-problem.ts';
import { headersFor, type Relay } from './route.ts';
import { CollectedBody, mostCollectedBytes } from './body/buffered-body.ts';
import { clientGone, reportFinished } from './finish.ts';
import { bodyLength, discardRest, RequestBody, type BodyProgress } from './body/streamed-body.ts';
import { Silence } from './idle-timeout.ts';
import type { Stream } from './active-exchanges.ts';
import type { AnswerHead } from './upstream/response-head.ts';
import type { AnswerHandler, Wire } from './upstream/connection.ts';
import { UpstreamTimeout } from './upstream/errors.ts';

/**
 * One plain HTTP request on its way through: decided about, handed to the upstream, answered, counted.
 *
 * Raw headers in both directions, nothing repeated. A request may have to wait until a connection is free; what was
 * decided by then may not be true any more, so it is decided again in the tick that writes it
 * ({@link Exchange.onSending}).
 */
export class Exchange implements Stream, Parties, AnswerHandler {
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
  #wire: Wire | null = null;
  #silence: Silence | null = null;

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
    this.#judgement = new Judgement(relay, request, this);
    this.#answer = new AnswerWriter(response, request.method === 'HEAD');
  }

  /** Takes the request from here to its end. */
  start(): void {
    const { route, tools } = this.#relay;
    tools.streams.enter(this);
    // What was read from a connection that has broken since: nobody waits for an answer, or says any more who asks.
    if (this.#request.socket.destroyed) return this.#finish(clientGone, 'client_gone');
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
    const headers = headersFor(this.#relay, request, this.#requestId, this.#judgement);
    upstream.send({ method: request.method ?? '', target: this.#target, headers, body }, this);
    this.#dispatching = false;
  }

  onSending(wire: Wire): boolean {
    if (this.#state === 'over') return false;
    if (this.#request.socket.destroyed) {
      this.#finish(clientGone, 'client_gone');
      return false;
    }
    if (!this.#dispatching && !this.#judgement.stillHolds()) {
      this.#decideAgain();
      return false;
    }
    this.#state = 'sent';
    this.#wire = wire;
    return true;
  }

  onHead(head: AnswerHead): void {
    const { tools } = this.#relay;
    this.#upstreamMs = tools.clock.monotonicMs() - this.#dispatchedMs;
    const tenant = this.#judgement.admission?.permit.resolvedTenant ?? null;
    const { status, reason } = head;
    const { headers, contentLength } = tools.answers.headers(status, head.headers, this.#requestId, tenant);
    this.#answer.begin(status, reason, headers, contentLength, this.#onDrain);
  }

  onBody(chunk: Buffer): boolean {
    return this.#answer.data(chunk);
  }

  readonly #onDrain = (): void => this.#wire?.resume();

  onEnd(rawTrailers: readonly string[]): void {
    this.#wire = null;
    const trailers = rawTrailers.length > 0 ? this.#relay.tools.answers.trailers(rawTrailers) : [];
    if (this.#answer.end(trailers)) this.#finish(this.#answer.status, null);
  }

  onFailure(error: Error): void {
    this.#wire = null;
    if (this.#state === 'over') return;
    if (!this.#answer.started) return this.#refuse(upstreamProblem(error), error);
    this.#finish(this.#answer.status, 'cut_by_upstream', error);
    // Cut, so that the client does not take what it has for all there is.
    this.#response.destroy();
  }

  #decideAgain(): void {
    if (++this.#superseded > mostSuperseded) return this.#refuse(neverSettled);
    if (this.#body instanceof RequestBody) this.#body = null;
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
    this.#abort();
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

  #finish(status: number, code: RequestRecord['code'], cause?: unknown): void {
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
    const { route } = this.#relay;
    if (this.#state === 'queued' && nowMs - this.#dispatchedMs > route.timeouts.connectMs) {
      const error = new UpstreamTimeout('have a connection free');
      return this.#refuse(upstreamProblem(error), error);
    }
    if (this.#state !== 'sent' && this.#state !== 'collecting') return;
    if (this.#judgement.expired) return this.#end(withdrawn, 'withdrawn');
    const awaited = this.#answer.status === 0 ? 'head' : 'body';
    const standing = {
      waitsForClient: this.#body?.starving === true || this.#response.writableLength > 0,
      clientProgress: (this.#body?.bytes ?? 0) + (this.#response.socket?.bytesWritten ?? 0),
      upstreamProgress: this.#wire?.progress ?? null,
      awaited,
    } as const;
    const broken = (this.#silence ??= new Silence(this.#relay)).broken(standing, nowMs);
    if (broken === 'client') return this.#end(tooSlow, 'request_timeout');
    if (broken === 'upstream') {
      this.#abort();
      this.onFailure(new UpstreamTimeout(`send the ${awaited} of its answer`));
    }
  }

  /** Ends it with a refusal while there is room for one, with a cut otherwise. */
  #end(problem: Problem, code: RequestRecord['code']): void {
    const cut = this.#answer.started;
    if (cut) this.#finish(this.#answer.status, code);
    else this.#refuse(problem);
    this.#abort();
    if (cut) this.#response.destroy();
  }

  #abort(): void {
    this.#wire?.abort();
    this.#wire = null;
  }
}

/** Facts that are forgotten as fast as they are loaded must not keep a request going round for ever. */
const mostSuperseded = 10;
