import type { Socket } from 'node:net';
import type { Problem } from '../../domain/problem.ts';
import { guarded, guardMethods } from '../../http/guarded.ts';
import { resetConnection } from '../../http/hang-up.ts';
import { unsentBytes } from '../../http/unsent-bytes.ts';
import type { Share } from '../../limits/shares.ts';
import { clientGone, type RequestRecord } from '../../ports/request-record.ts';
import type { ResponseProgress } from '../ending-exchange.ts';
import { Exchange } from '../exchange.ts';
import { SideTimeouts } from '../idle-timeout.ts';
import { withRateLimit } from '../headers/rate-limit.ts';
import type { FilteredHeaders } from '../headers/response-headers.ts';
import type { RequestHead } from '../ingress/framing.ts';
import { tooManyWebSockets, tooSlow, upstreamProblem } from '../problems.ts';
import { dial } from '../upstream/connect.ts';
import type { ResponseHead } from '../upstream/message-head.ts';
import { Handshake, switchingProtocols, type HandshakeUser } from './handshake.ts';
import { Tunnel, type TunnelUser } from './tunnel.ts';

/** Close code for a WebSocket whose access was revoked; 4000 to 4999 are for applications (RFC 6455 §7.4.2). */
const revokedCloseCode = 4403;
/** Close code used when the process is shutting down (RFC 6455 §7.4.1). */
const goingAwayCode = 1001;
/** Bytes that an open WebSocket counts with, for its second connection and its tunnel, so that idle ones count too. */
const openBytes = 8 * 1024;
/** Close code used when one side has read nothing for too long. RFC 6455 §7.4.1 has no code specific to this case. */
const policyCode = 1008;

/**
 * One request to open a WebSocket. The request is sent to the upstream, and the upstream's response goes to the client.
 * If the upstream agrees, a tunnel then passes frames in both directions. The request is counted once, when it is sent.
 */
export class WebSocketExchange extends Exchange implements HandshakeUser, TunnelUser {
  #connection: Socket | null = null;
  #handshake: Handshake | null = null;
  #tunnel: Tunnel | null = null;
  #responseBytes = 0;
  #timeouts: SideTimeouts | null = null;
  /** The tenant's share of the route's WebSockets; `null` while the request occupies no slot. */
  #place: Share | null = null;

  start(head: RequestHead): void {
    this.response.onClose = this.#onClose;
    this.decideAbout(head);
  }

  readonly #onClose = guarded(this, (isWhole: boolean) => {
    if (isWhole) this.finish(this.response.status, null);
    else this.finish(this.response.isBegun ? this.response.status : clientGone, 'client_gone');
  });

  /** Reserves a slot among the route's WebSockets, and opens a separate connection to the upstream. */
  protected admitted(): void {
    const { webSockets, mostWebSockets } = this.route.upstream;
    this.#place = webSockets.enter(this.decision.admittedAs.permit, mostWebSockets);
    if (this.#place === null) return this.reject(tooManyWebSockets);
    this.state = 'queued';
    this.waitingSinceMs = this.route.deps.clock.monotonicMs();
    const { upstream, config, deps } = this.route;
    const ready = guarded(this, () => this.#prepare(connection));
    const use = { allowHalfOpen: true };
    const connection = dial(upstream, use, config.timeouts.connectMs, deps.timers, (error) => {
      if (error === null) ready();
    });
    const failed = (error: Error): void => {
      if (this.#connection === connection) this.#failed(error);
    };
    connection.on('error', guarded(this, failed));
    this.#connection = connection;
  }

  #prepare(connection: Socket): void {
    if (this.#connection !== connection) return;
    const { host } = this.route.upstream.origin;
    const key = this.request.header('sec-websocket-key') ?? '';
    const request = { target: this.target, headers: this.upstreamHeaders(), host, key };
    this.#send(new Handshake(connection, request, this));
  }

  /** Sends the handshake if the decision still holds in this tick; otherwise decides again. */
  #send(handshake: Handshake): void {
    if (this.state !== 'queued') return;
    if (!this.decision.stillHolds()) {
      this.#dropConnection();
      return this.decideAgain();
    }
    this.counted.handOver(this.decision);
    this.route.deps.usage.commit();
    if (!this.decision.mayAct()) {
      this.counted.takeBack();
      this.#dropConnection();
      return this.decideAgain();
    }
    this.state = 'sent';
    this.#handshake = handshake;
    this.waitingSinceMs = this.route.deps.clock.monotonicMs();
    handshake.send();
  }

  onConsent(response: ResponseHead, rest: Buffer): void {
    const upstream = this.#connection;
    if (this.state !== 'sent' || upstream === null || !this.mayPass()) return;
    const switching = switchingProtocols(this.#headersOf(response).headers);
    this.state = 'open';
    const { socket: client, head } = this.request.takeConnection();
    const { bodyIdleMs } = this.route.deps.limits;
    this.#tunnel = new Tunnel(client, upstream, bodyIdleMs, this);
    client.write(switching);
    this.#tunnel.open(head, rest);
  }

  onHead(response: ResponseHead): void {
    if (this.state !== 'sent' || !this.mayPass()) return;
    const { headers, contentLength } = this.#headersOf(response);
    const drained = (): void => this.#handshake?.resume();
    this.response.onDrain = guarded(this, drained);
    this.response.begin(response.status, response.reason, headers, contentLength);
    this.state = 'responding';
  }

  onBody(chunk: Buffer): boolean {
    this.#responseBytes += chunk.length;
    return !this.mayPass() || this.response.write(chunk, false);
  }

  onEnd(): void {
    if (this.mayPass()) this.response.end();
  }

  onFailure(error: Error): void {
    if (this.state !== 'responding') return this.#failed(error);
    this.finish(this.response.status, 'cut_by_upstream', error);
    // Cuts the response short, so that the client does not mistake the partial body for the whole.
    this.response.cut();
  }

  onClosed(): void {
    this.finish(101, null);
  }

  #headersOf({ status, headers: rawHeaders }: ResponseHead): FilteredHeaders {
    this.upstreamMs = this.route.deps.clock.monotonicMs() - this.waitingSinceMs;
    const filtered = this.responseHeaders(status, rawHeaders);
    if (filtered.units !== null) this.countUnits(filtered.units, () => undefined);
    const { rateLimit } = this.decision;
    return rateLimit === null
      ? filtered
      : { ...filtered, headers: withRateLimit(filtered.headers, rateLimit) };
  }

  #failed(error: Error): void {
    if (this.state !== 'queued' && this.state !== 'sent') return;
    this.#endWithout(upstreamProblem(error), error);
  }

  /** Responds with one of the gateway's own problems. The request counts even if the upstream was unreachable. */
  #endWithout(problem: Problem, cause?: unknown): void {
    this.counted.handOver(this.decision);
    this.reject(problem, cause);
  }

  protected override closeOpen(unheard: boolean): void {
    if (!unheard) return this.#close(revokedCloseCode, 'access was withdrawn', 'withdrawn');
    this.finish(101, 'withdrawn');
    this.#tunnel?.reset();
  }

  override goAway(): void {
    if (this.state === 'open') this.#close(goingAwayCode, 'the gateway is going away', null);
  }

  check(nowMs: number): void {
    const { headersMs } = this.route.config.timeouts;
    const late = this.state === 'sent' && nowMs - this.waitingSinceMs > headersMs;
    if (late) return this.#endWithout(upstreamProblem({ code: 'ETIMEDOUT' }));
    if (this.decision.checkExpiry()) return void this.revoke();
    if (this.state === 'open') this.#tunnel?.hold(this.isAboveShare());
    if (this.state === 'open' && this.#tunnel?.idle(nowMs)) {
      this.#close(policyCode, 'nothing was read for too long', 'request_timeout');
    } else if (this.state === 'responding') this.#checkResponse(nowMs);
  }

  /** Limits the pauses of both sides in a response without an upgrade. */
  #checkResponse(nowMs: number): void {
    this.#timeouts ??= new SideTimeouts(this.route.config, this.route.deps.limits);
    const silent = this.#timeouts.silentSide(
      {
        waitsForClient: this.response.unsentBytes > 0,
        clientProgress: this.request.socket.bytesWritten,
        upstreamProgress: this.#responseBytes,
        awaited: 'body',
      },
      nowMs,
    );
    if (silent === 'client') this.endEarly(tooSlow, 'request_timeout');
    else if (silent === 'upstream') {
      this.finish(this.response.status, 'cut_by_upstream');
      this.response.cut();
    }
  }

  #close(closeCode: number, reason: string, code: RequestRecord['code']): void {
    this.finish(101, code);
    this.#tunnel?.end(closeCode, reason);
  }

  protected override work(): number {
    return this.#tunnel?.work ?? 0;
  }

  get heldBytes(): number {
    return this.#connection === null ? 0 : openBytes + unsentBytes(this.#connection);
  }

  onHeld(): void {
    this.request.countHeld();
  }

  protected progress(): ResponseProgress {
    return {
      status: this.response.status,
      bytesIn: this.#tunnel?.bytesIn ?? 0,
      bytesOut: this.#tunnel?.bytesOut ?? this.#responseBytes,
    };
  }

  protected release(): void {
    this.#dropConnection();
  }

  #dropConnection(): void {
    if (this.#connection !== null) resetConnection(this.#connection);
    this.#connection = null;
    if (this.#place !== null) this.route.upstream.webSockets.giveBack(this.#place);
    this.#place = null;
  }
}

guardMethods(WebSocketExchange, undefined, 'start', 'check', 'goAway', 'onClosed');
