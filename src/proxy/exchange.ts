import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission, Rejection } from '../authz/proxied-request.ts';
import { ProblemError, problemStatus, type Problem } from '../domain/problem.ts';
import { networkOf } from '../http/trusted-proxies.ts';
import { cutResponse } from '../http/hang-up.ts';
import { bodyMayBeLong } from '../http/problem-reply.ts';
import type { FactKey } from '../ports/facts.ts';
import type { RequestRecord } from '../ports/request-record.ts';
import type { RequestTrace } from '../ports/tracer.ts';
import type { ActiveExchange } from './active-exchanges.ts';
import { Decision } from './decision.ts';
import { exchangeStates, type ExchangeState } from './exchange-states.ts';
import { withRateLimit } from './headers/rate-limit.ts';
import { outboundContext } from './headers/request-headers.ts';
import type { RequestHead } from './ingress/framing.ts';
import { withoutQuery } from './ingress/target.ts';
import { accessRevoked, keepsChanging } from './problems.ts';
import type { Route } from './route.ts';
import { Counted } from './upstream/hand-overs.ts';
import { writeProblem } from './write-problem.ts';

/** Most repetitions of a decision: facts that change as fast as they are loaded must not hold a request for ever. */
const mostSuperseded = 10;

/** Status and bytes of bodies, as far as an exchange has come. */
export interface ResponseProgress {
  readonly status: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/**
 * One request on its way: decided, handed to the upstream, responded to, counted once. This class has the common parts
 * of requests with a response and requests for a WebSocket; `exchange-states.ts` has their life as a table.
 */
export abstract class Exchange implements ActiveExchange {
  slot = 0;
  state: ExchangeState = 'deciding';
  /** When the present wait began: for a connection, or for the upstream. Monotonic. */
  protected waitingSinceMs = 0;
  /** From the hand-over to the upstream's head; `null` before that. */
  protected upstreamMs: number | null = null;
  protected readonly route: Route;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** As the client sent it. */
  protected readonly target: string;
  protected readonly requestId: string;
  protected readonly decision: Decision;
  protected readonly counted: Counted;
  /** `null` where requests are not traced. */
  protected readonly trace: RequestTrace | null;
  readonly #startedMs: number;
  #superseded = 0;
  /** Of the body of a problem, where that was the response. */
  #problemBytes: number | null = null;
  #limit: Problem['limit'];

  constructor(route: Route, request: IncomingMessage, response: ServerResponse, requestId: string) {
    this.route = route;
    this.request = request;
    this.response = response;
    this.target = request.url ?? '';
    this.requestId = requestId;
    this.#startedMs = route.deps.clock.monotonicMs();
    this.trace = route.deps.tracer?.begin(request, route.config.prefix) ?? null;
    this.decision = new Decision(route, this.trace);
    this.counted = new Counted(route.deps.usage, request.method ?? '');
    route.deps.exchanges.enter(this);
  }

  /** Takes the request from here to its end. */
  abstract start(head: RequestHead): void;
  /** Called in the tick of the decision that lets the request through. */
  protected abstract admitted(): void;
  /** Lets go of the upstream and of the request's body. */
  protected abstract release(): void;
  /** Status and body bytes of the response so far, and of the request. */
  protected abstract progress(): ResponseProgress;
  /** Ends an open WebSocket with a close frame. */
  protected abstract closeOpen(): void;
  abstract goAway(): void;
  abstract check(nowMs: number): void;

  /** Decides about the request, whose head it reads. */
  protected decideAbout(head: RequestHead): void {
    const problem = this.decision.read(head);
    if (problem === undefined) this.#decide();
    else this.reject(problem);
  }

  /** Decides once more, as if the request had come just now. */
  protected decideAgain(): void {
    if (++this.#superseded > mostSuperseded) return this.reject(keepsChanging);
    this.state = 'deciding';
    this.decision.leave();
    this.#decide();
  }

  #decide(): void {
    try {
      const decision = this.decision.fromMemory();
      if (decision === undefined) void this.#decideByLookUp();
      else this.#act(decision);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #decideByLookUp(): Promise<void> {
    try {
      const { directory, addressOf } = this.route.deps;
      const lookup = directory.lookUp(networkOf(addressOf(this.request)));
      let decision: Admission | Rejection | undefined;
      while ((decision = this.decision.fromLookup(lookup)) === undefined) await lookup.load();
      // Nothing is awaited between the decision and its effect, so the decision still holds.
      this.#act(decision);
    } catch (error) {
      this.#fail(error);
    }
  }

  #act(decision: Admission | Rejection): void {
    const problem = this.decision.enter(decision);
    // The client left while facts were being loaded.
    if (this.state === 'finished') this.decision.leave();
    else if (problem === undefined) this.admitted();
    else this.reject(problem);
  }

  #fail(error: unknown): void {
    if (error instanceof ProblemError) this.reject(error.problem, error.cause);
    else this.reject({ code: 'internal', detail: 'The gateway failed.' }, error);
  }

  /** Responds with a problem, and nothing else. @param cause for the log */
  protected reject(problem: Problem, cause?: unknown): void {
    if (this.state === 'finished') return;
    const { names, problemTypeBase } = this.route.deps;
    const tenant = this.decision.admission?.permit.resolvedTenant;
    const headers = tenant === undefined ? [] : [names.resolvedTenant, tenant];
    if (bodyMayBeLong(this.request)) this.response.shouldKeepAlive = false;
    this.#problemBytes = writeProblem(this.response, problem, {
      target: this.target,
      requestId: this.requestId,
      typeBase: problemTypeBase,
      headers: this.withOwn(headers),
    });
    this.#limit = problem.limit;
    this.finish(problemStatus(problem.code), problem.code, cause);
  }

  /** Ends it early: with a problem where the client has not been sent anything yet, with a cut otherwise. */
  protected endEarly(problem: Problem, code: RequestRecord['code']): void {
    if (this.state !== 'responding') return this.reject(problem);
    this.finish(this.progress().status, code);
    cutResponse(this.response);
  }

  noteBytes(): void {
    const { bytesIn, bytesOut } = this.progress();
    this.counted.noteBytes(bytesIn, this.#problemBytes ?? bytesOut);
  }

  /** Notes how it ended and lets go of everything. The first call counts. */
  protected finish(status: number, code: RequestRecord['code'], cause?: unknown): void {
    if (this.state === 'finished') return;
    this.state = 'finished';
    this.noteBytes();
    this.counted.end(status);
    const { deps } = this.route;
    const record = this.#record(status, code);
    if (cause !== undefined) deps.failures.write(cause, record);
    deps.observe(record);
    this.trace?.end(record);
    deps.exchanges.leave(this);
    this.decision.leave();
    this.release();
  }

  #record(status: number, code: RequestRecord['code']): RequestRecord {
    const { admission, caller, keyId } = this.decision;
    const { bytesIn, bytesOut } = this.progress();
    return {
      requestId: this.requestId,
      method: this.request.method ?? '',
      path: withoutQuery(this.target),
      route: this.route.config.prefix,
      status,
      code,
      limit: this.#limit,
      reason: admission?.permit.reason ?? null,
      keyId,
      caller: caller?.accountId ?? null,
      resolvedTenant: admission?.permit.resolvedTenant ?? null,
      durationMs: this.route.deps.clock.monotonicMs() - this.#startedMs,
      upstreamMs: this.upstreamMs,
      bytesIn,
      bytesOut: this.#problemBytes ?? bytesOut,
      head: this.request,
    };
  }

  /** The headers the upstream gets, of plain requests and of upgrades alike. Flat list of names and values. */
  protected upstreamHeaders(): string[] {
    const { config, deps, upstream } = this.route;
    const { rawHeaders, socket } = this.request;
    const identity = this.decision.admission;
    const context = outboundContext(this.requestId, identity, socket, deps.isTrusted(socket));
    const headers = deps.outboundHeaders(rawHeaders, context, config);
    this.trace?.forward(headers, upstream);
    return headers;
  }

  /** Puts what the gateway says of limits and to browsers in the place of what is said there. Flat lists of names and values. */
  protected withOwn(headers: string[]): string[] {
    const { rateLimit } = this.decision;
    const limited = rateLimit === null ? headers : withRateLimit(headers, rateLimit);
    return this.route.cors?.replace(limited, this.request.headers.origin) ?? limited;
  }

  dependsOn(): readonly FactKey[] {
    return this.decision.dependsOn();
  }

  noteUse(): void {
    const { admission } = this.decision;
    if (admission !== null)
      this.route.deps.usage.touch(admission.permit.resolvedTenant, admission.caller.keyId);
  }

  keyChanged(): void {
    void this.decision.renewExpiry();
  }

  revoke(): boolean {
    switch (exchangeStates[this.state].onRevocation) {
      case 'decides again':
      case 'over':
        return false;
      case 'rejects':
      case 'cuts':
        this.endEarly(accessRevoked, 'withdrawn');
        return true;
      case 'closes':
        this.closeOpen();
        return true;
    }
  }
}
