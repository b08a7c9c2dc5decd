import { usedBy } from '../domain/usage.ts';
import { holdsKnownKey } from '../authz/authorization-of-others.ts';
import type { Admission, Rejection } from '../authz/proxied-request.ts';
import type { Problem } from '../domain/problem.ts';
import { guardMethods } from '../http/guarded.ts';
import { networkOf } from '../http/trusted-proxies.ts';
import { requestWork } from '../http/turn.ts';
import { overloaded } from '../limits/load-shedding.ts';
import { decideWithLookups } from '../ports/directory.ts';
import type { FactKey } from '../ports/facts.ts';
import { EndingExchange } from './ending-exchange.ts';
import { exchangeStates } from './exchange-states.ts';
import type { RequestHead } from './ingress/framing.ts';
import { accessRevoked, keepsChanging } from './problems.ts';

/** Maximum number of times that a request is decided again, in case facts change as fast as they are loaded. */
const mostSuperseded = 10;

/**
 * A proxied request: the gateway decides whether to admit it, hands it to the upstream, responds to it, and counts it
 * once. Plain requests and WebSocket upgrades share the code in this class. Their states are listed in
 * `exchange-states.ts`.
 */
export abstract class Exchange extends EndingExchange {
  #superseded = 0;
  #worked = 0;
  /** Whether a request to an open route keeps its `Authorization`. */
  #passesAuthorization = false;

  /** Serves the request until it is finished. */
  abstract start(head: RequestHead): void;
  /** Continues an admitted request, in the tick in which it was admitted. */
  protected abstract admitted(): void;
  /** Ends an open WebSocket. @param unheard see {@link revoke} */
  protected closeOpen(_unheard: boolean): void {
    throw new Error('this exchange is never open');
  }

  /** Does nothing, because a plain response ends on its own. */
  goAway(): void {}

  /** Reads the request's head and makes the decision. On an open route, there is nothing to decide. */
  protected decideAbout(head: RequestHead): void {
    if (this.route.open !== null) return this.#serveWithoutKey(head);
    const problem = this.decision.read(head);
    if (problem === undefined) this.#decide();
    else this.reject(this.isShed() ? overloaded : problem);
  }

  /** Passes a preflight on, which has no key. */
  protected passPreflight(): void {
    if (this.isShed()) return this.reject(overloaded);
    this.decision.admitPreflight(this.network);
    this.admitted();
  }

  /** Serves a request to an open route, without looking for a key. The request counts against its client's network. */
  #serveWithoutKey({ authorization }: RequestHead): void {
    const { config, open } = this.route;
    if (this.isShed()) return this.reject(overloaded);
    const network = this.network;
    const full = open?.count(network) ?? this.decision.enterWithoutKey(network);
    if (full !== undefined) return this.reject(full);
    if (!config.passAuthorization || authorization.length === 0) return this.admitted();
    this.#serveOnceRead(authorization, network).catch((error: unknown) => this.broke(error));
  }

  /** Serves the request, with its `Authorization` if that is known to be no key of this gateway. */
  async #serveOnceRead(authorization: readonly string[], network: string): Promise<void> {
    const { directory, readAuthorizationOfOthers } = this.route.deps;
    const digests = readAuthorizationOfOthers(authorization);
    if (digests?.length === 0) this.#passesAuthorization = true;
    else if (digests !== null) {
      const isKnown = decideWithLookups(directory, (facts) => holdsKnownKey(facts, digests), network);
      // If the look-up fails, the header cannot be told apart from a key.
      this.#passesAuthorization = !(await isKnown.catch(() => true));
    }
    if (this.state !== 'finished') this.admitted();
  }

  /**
   * During an overload, counts a request without a known caller against the share of the client's network. Returns
   * `true` if the share is used up. The request must then be shed.
   */
  protected isShed(): boolean {
    const { shedding } = this.route.deps;
    return shedding.shares !== null && !shedding.shares.admitsStranger(this.network);
  }

  /** Returns the network of the client. */
  get network(): string {
    return networkOf(this.route.deps.addressOf(this.request));
  }

  /** Decides again, as if the request had just arrived. */
  protected decideAgain(): void {
    if (++this.#superseded > mostSuperseded) return this.reject(keepsChanging);
    this.state = 'deciding';
    this.decision.leave();
    this.#decide();
  }

  #decide(): void {
    const decision = this.decision.fromMemory();
    if (decision === undefined) this.#decideByLookUp().catch((error: unknown) => this.broke(error));
    else this.#act(decision);
  }

  async #decideByLookUp(): Promise<void> {
    const lookup = this.route.deps.directory.lookUp(this.network);
    let decision: Admission | Rejection | undefined;
    while ((decision = this.decision.fromLookup(lookup)) === undefined) await lookup.load();
    // Nothing is awaited between the decision and its effect, so the decision still holds.
    this.#act(decision);
  }

  #act(decision: Admission | Rejection): void {
    const problem = this.decision.enter(decision);
    // The client left while facts were being loaded.
    if (this.state === 'finished') return this.decision.leave();
    if (problem !== undefined)
      return this.reject(decision.caller === null && this.isShed() ? overloaded : problem);
    const full = this.decision.takeFromLimits(this);
    if (full === undefined) this.admitted();
    else if (full !== 'later') this.reject(full);
  }

  /**
   * Continues a request that was waiting for its tokens. Facts may have changed in the meantime.
   *
   * @param full problem to report if a limit is used up
   */
  onTokens(full: Problem | undefined): void {
    if (this.state === 'finished') this.decision.giveBackTokens();
    else if (full !== undefined) this.reject(full);
    else if (this.decision.stillHolds()) this.admitted();
    else this.decideAgain();
  }

  /**
   * Returns the headers to send to the upstream, for plain requests and upgrades alike, as a flat list of names and
   * values.
   */
  protected upstreamHeaders(): string[] {
    const { config, deps, upstream } = this.route;
    const { rawHeaders, socket } = this.request;
    const identity = this.decision.admission;
    const context = {
      requestId: this.requestId,
      identity,
      peer: socket.remoteAddress,
      peerTrusted: deps.isTrusted(socket),
      encrypted: 'encrypted' in socket,
    };
    const isOpen = this.route.open !== null;
    const rules = isOpen ? { ...config, passAuthorization: this.#passesAuthorization } : config;
    const headers = deps.outboundHeaders(rawHeaders, context, rules);
    this.trace?.forward(headers, upstream);
    return headers;
  }

  /**
   * Counts the work since the previous call. Returns whether the sender has used up its share during an overload. Call
   * this at intervals, for a request that has been sent.
   */
  protected isAboveShare(): boolean {
    const more = this.work() - this.#worked;
    this.#worked += more;
    const { shares } = this.route.deps.shedding;
    if (shares === null) return false;
    const { parentTenant, resolvedTenant } = this.decision.admittedAs.permit;
    const requests = more / requestWork;
    return parentTenant === null
      ? !shares.admitsStranger(resolvedTenant, requests)
      : !shares.admits(parentTenant, requests);
  }

  /** Returns the work so far, in bytes. */
  protected work(): number {
    const { bytesIn, bytesOut } = this.progress();
    return bytesIn + bytesOut;
  }

  dependsOn(): readonly FactKey[] {
    return this.decision.dependsOn();
  }

  noteUse(): void {
    const { admission } = this.decision;
    if (admission !== null)
      this.route.deps.usage.touch(usedBy(admission.caller, admission.permit.resolvedTenant));
  }

  keyChanged(): void {
    this.decision.renewExpiry().catch((error: unknown) => this.broke(error));
  }

  /**
   * Whether bytes may pass in this tick. If not, ends the exchange. Call this right before each write of what the client
   * or the upstream has sent.
   */
  mayPass(): boolean {
    if (this.decision.mayPass()) return true;
    this.revoke(true);
    return false;
  }

  revoke(unheard = false): boolean {
    switch (exchangeStates[this.state].onRevocation) {
      case 'decides again':
      case 'over':
        return false;
      case 'rejects':
      case 'cuts':
        this.endEarly(accessRevoked, 'withdrawn');
        return true;
      case 'closes':
        this.closeOpen(unheard);
        return true;
    }
  }
}

guardMethods(Exchange, undefined, 'noteUse', 'noteBytes', 'keyChanged', 'onTokens');
guardMethods(Exchange, [], 'dependsOn');
// If `revoke` throws, the exchange counts as ended, because the exception ends it.
guardMethods(Exchange, true, 'revoke');
