import { parentOf } from '../domain/caller.ts';
import type { AccountId } from '../domain/ids.ts';
import { ProblemError, problemStatus, type Problem } from '../domain/problem.ts';
import { Fault, type Breakable } from '../http/guarded.ts';
import type { BytesHolder, ClientRequest, ClientResponse } from '../http/client-request.ts';
import { readUnits } from '../domain/usage.ts';
import { bodyMayBeLong } from '../http/problem-reply.ts';
import type { FactKey } from '../ports/facts.ts';
import { overloaded } from '../limits/load-shedding.ts';
import type { RequestParties, RequestRecord } from '../ports/request-record.ts';
import type { RequestTrace } from '../ports/tracer.ts';
import type { ActiveExchange } from './active-exchanges.ts';
import { Decision } from './decision.ts';
import type { ExchangeState } from './exchange-states.ts';
import { withRateLimit } from './headers/rate-limit.ts';
import type { FilteredHeaders } from './headers/response-headers.ts';
import { withoutQuery } from '../domain/paths.ts';
import { ownFault, upstreamProblem } from './problems.ts';
import type { Route } from './route.ts';
import { Counted } from './counted-request.ts';
import { writeProblem } from './write-problem.ts';

/** Status of an exchange's response, and the body bytes received and sent so far. */
export interface ResponseProgress {
  readonly status: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/**
 * Base class with the code that ends an exchange: with the upstream's response, with a problem, by cutting the response
 * short, or after an exception in the gateway's own code. An exception ends only the exchange in which it occurred.
 */
export abstract class EndingExchange implements ActiveExchange, BytesHolder, Breakable {
  slot = 0;
  state: ExchangeState = 'deciding';
  /** Monotonic time at which the exchange began to wait for its body, for a connection, or for the upstream. */
  protected waitingSinceMs = 0;
  /** Milliseconds from {@link waitingSinceMs} to the head of the upstream's response; `null` until the head arrives. */
  protected upstreamMs: number | null = null;
  protected readonly route: Route;
  readonly request: ClientRequest;
  readonly response: ClientResponse;
  /** Target as the client sent it. */
  protected readonly target: string;
  protected readonly requestId: string;
  protected readonly decision: Decision;
  protected readonly counted: Counted;
  /** `null` if requests are not traced. */
  protected readonly trace: RequestTrace | null;
  readonly #startedMs: number;
  /** Number of bytes in the problem body; `null` if the response was not a problem. */
  #problemBytes: number | null = null;
  #limit: Problem['limit'];
  /** Whether an exception has been logged. Only the first exception of an exchange is logged. */
  #logged = false;

  constructor(route: Route, response: ClientResponse, requestId: string) {
    const { request } = response;
    this.route = route;
    this.request = request;
    request.holder = this;
    this.response = response;
    this.target = request.url;
    this.requestId = requestId;
    this.#startedMs = route.deps.clock.monotonicMs();
    this.trace = route.deps.tracer?.begin(request, route.config.prefix) ?? null;
    this.decision = new Decision(route, this.trace);
    this.counted = new Counted(route.deps.usage, request.method);
    route.deps.exchanges.enter(this);
  }

  abstract dependsOn(): readonly FactKey[];
  abstract revoke(unheard?: boolean): boolean;
  abstract keyChanged(): void;
  abstract goAway(): void;
  abstract noteUse(): void;
  abstract check(nowMs: number): void;
  abstract readonly heldBytes: number;
  /** Releases the upstream connection and the request body. */
  protected abstract release(): void;
  /** Returns the status, and the body bytes received and sent so far. */
  protected abstract progress(): ResponseProgress;

  /** Rejects the request with a problem and ends the exchange. @param cause error to log */
  protected reject(problem: Problem, cause?: unknown): void {
    if (this.state === 'finished') return;
    const { names, problemForm } = this.route.deps;
    const tenant = this.decision.admission?.permit.resolvedTenant;
    const headers = tenant === undefined ? [] : [names.resolvedTenant, tenant];
    if (bodyMayBeLong(this.request)) this.response.last = true;
    // The end of this response is noted below, with its problem.
    this.response.onClose = null;
    this.#problemBytes = writeProblem(this.response, problem, {
      target: this.target,
      requestId: this.requestId,
      form: problemForm,
      headers: this.withOwn(headers),
      vary: this.route.caching.vary,
    });
    this.#limit = problem.limit;
    this.finish(problemStatus(problem.code), problem.code, cause);
  }

  /** Ends the exchange early: with a problem if the response has not begun, otherwise by cutting the response short. */
  protected endEarly(problem: Problem, code: RequestRecord['code']): void {
    if (this.state !== 'responding') return this.reject(problem);
    this.finish(this.progress().status, code);
    this.response.cut(code === 'withdrawn');
  }

  parties(): RequestParties {
    const { admission, caller, keyId } = this.decision;
    return {
      keyId,
      caller: caller?.accountId ?? null,
      parent: caller?.kind === 'sub-account' ? caller.parentId : null,
      resolvedTenant: admission?.permit.resolvedTenant ?? null,
    };
  }

  /** The parent that the caller is, or belongs to; `null` while it is unknown, and for strangers. */
  get holdsFor(): AccountId | null {
    return this.decision.caller && parentOf(this.decision.caller);
  }

  dropped(): void {
    this.finish(this.response.status || problemStatus(overloaded.code), overloaded.code);
  }

  noteBytes(): void {
    const { bytesIn, bytesOut } = this.progress();
    this.counted.noteBytes(bytesIn, bytesOut);
  }

  /** Records how the exchange ended and releases everything. Only the first call has an effect. */
  protected finish(status: number, code: RequestRecord['code'], cause?: unknown): void {
    if (this.state === 'finished') return;
    this.state = 'finished';
    try {
      this.#tell(status, code, cause);
    } finally {
      this.#letGo();
    }
  }

  #tell(status: number, code: RequestRecord['code'], cause: unknown): void {
    this.noteBytes();
    this.counted.end(status);
    const { deps } = this.route;
    const record = this.#record(status, code);
    if (cause !== undefined) deps.failures.write(cause, record);
    deps.observe(record);
    this.trace?.end(record);
  }

  /** Releases everything. This function may be called again, because a repeated release has no effect. */
  #letGo(): void {
    try {
      this.route.deps.exchanges.leave(this);
      this.decision.leave();
      if (!this.counted.isHandedOver) this.decision.giveBackTokens();
      else this.decision.endTokens();
    } finally {
      this.release();
    }
  }

  #record(status: number, code: RequestRecord['code']): RequestRecord {
    const { admission, caller, keyId } = this.decision;
    const { bytesIn, bytesOut } = this.progress();
    return {
      requestId: this.requestId,
      method: this.request.method,
      path: withoutQuery(this.target),
      route: this.route.config.prefix,
      status,
      code,
      limit: this.#limit,
      reason: admission?.permit.reason ?? null,
      keyId,
      caller: caller?.accountId ?? null,
      parent: caller?.kind === 'sub-account' ? caller.parentId : null,
      resolvedTenant: admission?.permit.resolvedTenant ?? null,
      durationMs: this.route.deps.clock.monotonicMs() - this.#startedMs,
      upstreamMs: this.upstreamMs,
      bytesIn,
      bytesOut: this.#problemBytes ?? bytesOut,
      head: this.request,
    };
  }

  /**
   * Ends the exchange: with a problem if nothing has been sent to the client, otherwise by cutting the response short.
   */
  broke(error: unknown): void {
    const isOut = this.state === 'finished' && this.response.isEnded;
    try {
      this.#endBroken(error);
      // `finish` does nothing if the exchange had already finished, so everything is released here.
      this.#letGo();
    } catch (another) {
      this.#logException(another);
      this.#abandon();
    }
    if (isOut || this.#problemBytes !== null) return;
    this.response.cut();
    // If a WebSocket is open, Node's response no longer has a socket, so the socket is destroyed here.
    this.request.socket.destroy();
  }

  #endBroken(error: unknown): void {
    const isProblem = error instanceof ProblemError;
    if (!isProblem) this.#logException(error);
    if (this.response.isBegun || this.state === 'open') this.finish(this.progress().status, ownFault.code);
    else if (isProblem) this.reject(error.problem, error.cause);
    // After the hand-over, the upstream's response is the likeliest cause of an exception.
    else this.reject(this.state === 'sent' ? upstreamProblem(error) : ownFault);
  }

  /** Releases as much as possible after a second exception. */
  #abandon(): void {
    try {
      this.finish(problemStatus(ownFault.code), ownFault.code);
      this.#letGo();
    } catch (error) {
      this.#logException(error);
    }
  }

  #logException(error: unknown): void {
    if (this.#logged) return;
    this.#logged = true;
    const { requestId, route } = this;
    const exception: unknown = error instanceof Fault ? error.cause : error;
    route.deps.failures.writeException(exception, {
      requestId,
      route: route.config.prefix,
      code: ownFault.code,
    });
  }

  /** Returns the headers of the response to the client: the upstream's permitted ones, and the gateway's own. */
  protected responseHeaders(status: number, rawHeaders: readonly string[]): FilteredHeaders {
    const tenant = this.decision.admission?.permit.resolvedTenant ?? null;
    return this.route.responseHeaders.headers(status, rawHeaders, this.requestId, tenant);
  }

  /**
   * Counts what a response says that its request was worth, for usage and for limits. Call this before the client gets
   * the response. Units that cannot be read count as 0.
   *
   * @param value value of `usage.units_header`
   * @param told called once no replica admits a request that the units leave no room for; see {@link Taken.takeUnits}
   * @returns `true` if `told` is not called, because nothing has to be waited for
   */
  protected countUnits(value: string, told: () => void): boolean {
    if (!this.counted.isHandedOver) return true;
    const units = readUnits(value);
    if (units === null) this.route.deps.usage.noteMalformedUnits(this.route.config.prefix);
    this.counted.noteUnits(units ?? 0);
    return this.decision.takeUnits(units ?? 0, told);
  }

  /**
   * Replaces the upstream's rate limit and CORS headers with the gateway's own.
   *
   * @param headers flat list of names and values; the result has the same form
   */
  protected withOwn(headers: string[]): string[] {
    const { rateLimit } = this.decision;
    const limited = rateLimit === null ? headers : withRateLimit(headers, rateLimit);
    return this.route.cors?.replace(limited, this.request.header('origin')) ?? limited;
  }
}
