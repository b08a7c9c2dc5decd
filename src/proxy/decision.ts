import {
  callerKnown,
  decideProxiedRequest,
  dependencies,
  expiryOf,
  readProxiedRequest,
  type Admission,
  type ProxiedRequest,
  type Rejection,
} from '../authz/proxied-request.ts';
import type { Permit } from '../domain/acting-decision.ts';
import type { Caller } from '../domain/caller.ts';
import type { KeyId } from '../domain/ids.ts';
import { limitFull } from '../domain/limits/limit-full.ts';
import type { Problem } from '../domain/problem.ts';
import {
  decideWithLookups,
  type Evaluate,
  type Facts,
  type Lookup,
  type MissingFact,
} from '../ports/directory.ts';
import type { FactKey } from '../ports/facts.ts';
import type { Full, LimitedBy, Taken } from '../ports/limits/rate-limiter.ts';
import type { RequestTrace } from '../ports/tracer.ts';
import type { RequestHead } from './ingress/framing.ts';
import { tooManyInFlight } from '../limits/concurrency.ts';
import { overloaded } from '../limits/load-shedding.ts';
import type { Share } from '../limits/shares.ts';
import { rateLimitHeaders } from './headers/rate-limit.ts';
import type { Route } from './route.ts';
import type { AdmittedAs } from './upstream/message-head.ts';

/** Whether two permits result in the same headers. If so, headers built for one permit are correct for the other. */
function saysTheSame(a: Permit, b: Permit): boolean {
  return (
    a.resolvedTenant === b.resolvedTenant &&
    a.resolvedExternalId === b.resolvedExternalId &&
    a.parentExternalId === b.parentExternalId
  );
}

/** Whether two lists name the same accounts and keys. The limits themselves are not compared. */
function sameLimited(a: readonly LimitedBy[], b: readonly LimitedBy[]): boolean {
  return a.length === b.length && a.every(({ kind, id }, i) => kind === b[i]?.kind && id === b[i].id);
}

/**
 * The decision on one request. The gateway may decide more than once. While the request is admitted, it occupies one of
 * its tenant's slots for requests in flight.
 */
export class Decision {
  /** Set while the request is admitted; otherwise `null`. */
  admission: Admission | null = null;
  /** Caller to log, once known. */
  caller: Caller | null = null;
  /** Id of the key that was sent. It is also set for a revoked or expired key, for which {@link caller} is `null`. */
  keyId: KeyId | null = null;
  /** Rate limit headers for the response, as a flat list of names and values; `null` if there are none. */
  rateLimit: readonly string[] | null = null;
  readonly #route: Route;
  readonly #trace: RequestTrace | null;
  #withoutKey: AdmittedAs | null = null;
  /** The tenant's share of all requests in flight; `null` while the request is not admitted. */
  #place: Share | null = null;
  /** Tokens taken from the request's limits; `null` if none were taken. */
  #tokens: Taken | null = null;
  #tokensOf: readonly LimitedBy[] = [];
  /** Whether the request was counted against its parent's share during an overload. */
  #hasShare = false;
  #request: ProxiedRequest | null = null;
  #factsVersion = NaN;
  /** Whether the key's record has changed but the new expiry could not be loaded. */
  #expiryUnknown = false;
  /** Number of expiry loads in progress. */
  #asking = 0;

  /** @param trace `null` if requests are not traced */
  constructor(route: Route, trace: RequestTrace | null) {
    this.#route = route;
    this.#trace = trace;
  }

  /**
   * Reads the key and the acting header. Returns a problem if the request has no API key, more than one, or a malformed
   * one.
   */
  read(head: RequestHead): Problem | undefined {
    this.#trace?.deciding();
    const credentials = this.#route.deps.readCredentials(head);
    const request = readProxiedRequest(credentials, head.acting, head.kind);
    if ('problem' in request) return request.problem;
    this.#request = request;
    return undefined;
  }

  /** Decides from the facts in memory. Returns `undefined` if a look-up is needed. */
  fromMemory(): Admission | Rejection | undefined {
    return this.#route.deps.directory.decide(this.#evaluate);
  }

  /**
   * Decides from the facts in memory and those that a look-up has loaded. Returns `undefined` if more must be loaded.
   */
  fromLookup(lookup: Lookup): Admission | Rejection | undefined {
    return lookup.decide(this.#evaluate);
  }

  /**
   * Applies a decision. An admitted request gets one of its tenant's slots for requests in flight. Returns a problem if
   * the decision rejects the request, if no slot is free, or if the parent has used up its share during an overload.
   */
  enter(decision: Admission | Rejection): Problem | undefined {
    this.caller = decision.caller;
    this.keyId = 'problem' in decision ? decision.keyId : decision.caller.keyId;
    this.#trace?.decided();
    if ('problem' in decision) return decision.problem;
    const { concurrency, shedding } = this.#route.deps;
    // While the gateway is overloaded, requests from the parents that send the most are rejected.
    if (shedding.shares !== null && !this.#hasShare) {
      if (!shedding.shares.admits(decision.permit.parentTenant)) return overloaded;
      this.#hasShare = true;
    }
    this.#place = concurrency.enter(decision.permit);
    if (this.#place === null) return tooManyInFlight;
    this.admission = decision;
    this.#factsVersion = this.#route.deps.directory.factsVersion();
    return undefined;
  }

  /**
   * Gives a request without a key one of the slots for requests in flight. The slot counts against the client's
   * network. Returns a problem if no slot is free.
   *
   * @param network as returned by `networkOf`
   */
  enterWithoutKey(network: string): Problem | undefined {
    const { permit } = this.admitPreflight(network);
    this.#place = this.#route.deps.concurrency.enter(permit);
    return this.#place === null ? tooManyInFlight : undefined;
  }

  /**
   * Admits a preflight, which has no key. It takes no slot, so that requests to open routes cannot keep the preflights of
   * other routes out.
   */
  admitPreflight(network: string): AdmittedAs {
    return (this.#withoutKey = { caller: null, permit: { resolvedTenant: network, parentTenant: null } });
  }

  /**
   * Holder of the shares that the request counts against.
   *
   * @throws Error if the request is not admitted
   */
  get admittedAs(): AdmittedAs {
    const admittedAs = this.admission ?? this.#withoutKey;
    if (admittedAs === null) throw new Error('the request is not admitted');
    return admittedAs;
  }

  /** Frees the slot. The request is no longer admitted. */
  leave(): void {
    if (this.#place !== null) this.#route.deps.concurrency.leave(this.#place);
    this.#place = null;
    this.admission = null;
  }

  /**
   * Whether the current facts still lead to the same decision. Returns `false` if a look-up is needed. Even after
   * `true`, the request may be sent only if {@link mayAct} returns `true`.
   *
   * @param sameTurn whether the decision was made in this turn of the event loop. If so, the decision holds unless
   * facts have changed
   */
  stillHolds(sameTurn = false): boolean {
    const before = this.admission;
    // A request without a key depends on no facts.
    if (before === null) return true;
    if (sameTurn && this.#route.deps.directory.factsVersion() === this.#factsVersion) return true;
    const now = this.fromMemory();
    if (now === undefined || !('permit' in now)) return false;
    if (!saysTheSame(now.permit, before.permit)) return false;
    // The new admission may have other limits.
    this.admission = now;
    return true;
  }

  /** Whether the lease still lets this replica act on the decision. Call this right before the request is written. */
  mayAct(): boolean {
    return this.admission === null || this.#route.deps.directory.mayAct();
  }

  /** Whether bytes may pass in this tick. @see Directory.mayPass */
  mayPass(): boolean {
    return this.admission === null || this.#route.deps.directory.mayPass();
  }

  /**
   * Takes a token from each limit of the key and the accounts. A request that is decided again keeps its tokens, unless
   * its key or accounts have changed.
   *
   * @param user gets the result if it is not known right away
   * @returns `undefined` if all tokens were taken, the problem to report if a limit is used up, or `'later'`
   */
  takeFromLimits(user: { onTokens(full: Problem | undefined): void }): Problem | 'later' | undefined {
    const limitedBy = this.admission?.limitedBy ?? null;
    if (this.#tokens !== null) {
      if (limitedBy !== null && sameLimited(limitedBy, this.#tokensOf)) return undefined;
      this.giveBackTokens();
    }
    if (limitedBy === null) return undefined;
    const later = (known: Taken | Full): void => user.onTokens(this.#noteTaken(known, limitedBy));
    const result = this.#route.deps.rateLimiter.take(limitedBy, later);
    return result === null ? 'later' : this.#noteTaken(result, limitedBy);
  }

  /** Gives the tokens back, because the request was not handed over or now counts against other accounts. */
  giveBackTokens(): void {
    this.#tokens?.giveBack();
    this.#tokens = null;
  }

  /**
   * Takes what the response says that the request was worth from the limits that count units. Only the first call has an
   * effect. See {@link Taken.takeUnits} for the parameters and the result.
   */
  takeUnits(units: number, told: () => void): boolean {
    const tokens = this.#tokens;
    if (tokens === null) return true;
    this.#tokens = null;
    const isTold = tokens.takeUnits(units, told);
    this.rateLimit = tokens.scarcest && rateLimitHeaders(tokens.scarcest);
    return isTold;
  }

  /** Records that a request that was handed over is at its end. Without units of a response, it was worth nothing. */
  endTokens(): void {
    this.#tokens?.takeUnits(0, () => undefined);
    this.#tokens = null;
  }

  #noteTaken(result: Taken | Full, limitedBy: readonly LimitedBy[]): Problem | undefined {
    this.rateLimit = result.scarcest && rateLimitHeaders(result.scarcest);
    if (result.full) return limitFull(result.kind, result, result.retryAfterS, result.confirmed);
    this.#tokens = result;
    this.#tokensOf = limitedBy;
    return undefined;
  }

  /**
   * Loads the new expiry after the key's record has changed. If that fails, the old expiry stays in force, and the next
   * call to {@link checkExpiry} tries again.
   */
  async renewExpiry(): Promise<void> {
    const request = this.#request as ProxiedRequest;
    this.#expiryUnknown = false;
    this.#asking += 1;
    try {
      const expiresAtMs = await decideWithLookups(this.#route.deps.directory, (facts) =>
        expiryOf(facts, request),
      );
      if (this.admission !== null) this.admission = { ...this.admission, expiresAtMs };
    } catch {
      this.#expiryUnknown = true;
    } finally {
      this.#asking -= 1;
    }
  }

  /** Whether the key's last known expiry has passed. Call this at intervals, because nothing signals an expiry. */
  checkExpiry(): boolean {
    // While the new expiry is being loaded, the old one is ignored, because the new one may be later.
    if (this.#asking > 0) return false;
    const expiresAtMs = this.admission?.expiresAtMs ?? null;
    if (expiresAtMs !== null && expiresAtMs <= this.#route.deps.clock.wallMs()) return true;
    if (this.#expiryUnknown) void this.renewExpiry();
    return false;
  }

  /** Facts that the admitted request depends on; empty if the request is not admitted. */
  dependsOn(): readonly FactKey[] {
    return this.admission === null || this.#request === null
      ? []
      : dependencies(this.#request.digest, this.admission);
  }

  readonly #evaluate: Evaluate<Admission | Rejection> = (
    facts: Facts,
  ): Admission | Rejection | MissingFact => {
    const { rules, deps } = this.#route;
    const request = this.#request as ProxiedRequest;
    const nowMs = deps.clock.wallMs();
    if (this.#trace !== null && callerKnown(facts, request, nowMs)) this.#trace.authenticated();
    return decideProxiedRequest(facts, request, rules, nowMs);
  };
}
