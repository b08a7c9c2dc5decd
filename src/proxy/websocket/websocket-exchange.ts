import type { Socket } from 'node:net';
import { guarded, guardMethods } from '../../http/guarded.ts';
import { resetConnection } from '../../http/hang-up.ts';
import type { Share } from '../../limits/shares.ts';
import type { RequestRecord } from '../../ports/request-record.ts';
import type { ResponseProgress } from '../ending-exchange.ts';
import { HttpExchange } from '../http-exchange.ts';
import { tooManyWebSockets } from '../problems.ts';
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
export class WebSocketExchange extends HttpExchange implements HandshakeUser, TunnelUser {
  #connection: Socket | null = null;
  #tunnel: Tunnel | null = null;
  /** The tenant's share of the route's WebSockets; `null` while the request occupies no slot. */
  #place: Share | null = null;

  /** Reserves a slot among the route's WebSockets, and opens a separate connection to the upstream. */
  protected override admitted(): void {
    const { upstream, config, deps } = this.route;
    this.#place = upstream.webSockets.enter(this.decision.admittedAs.permit, upstream.mostWebSockets);
    if (this.#place === null) return this.reject(tooManyWebSockets);
    this.state = 'queued';
    this.waitingSinceMs = deps.clock.monotonicMs();
    const ready = guarded(this, () => this.#send(connection));
    const use = { allowHalfOpen: true };
    const connection = dial(upstream, use, config.timeouts.connectMs, deps.timers, (error) => {
      if (error === null) ready();
    });
    const failed = (error: Error): void => {
      if (this.#connection === connection && this.state === 'queued') this.onRefused(error);
    };
    connection.on('error', guarded(this, failed));
    this.#connection = connection;
  }

  /** Sends the handshake if the decision still holds in this tick; otherwise decides again. */
  #send(connection: Socket): void {
    if (this.#connection !== connection) return;
    const { upstream, deps } = this.route;
    const key = this.request.header('sec-websocket-key') ?? '';
    const { host } = upstream.origin;
    const handshake = new Handshake(connection, this.target, this.upstreamHeaders(), host, key, this);
    if (!this.mayStillSend()) return;
    deps.usage.commit();
    if (!this.sending(handshake)) return;
    this.waitingSinceMs = deps.clock.monotonicMs();
    handshake.send();
  }

  protected override decideAgain(): void {
    this.#dropConnection();
    super.decideAgain();
  }

  onConsent({ status, headers: rawHeaders }: ResponseHead, rest: Buffer): void {
    const upstream = this.#connection;
    if (this.state !== 'sent' || upstream === null || !this.mayPass()) return;
    const { clock, limits } = this.route.deps;
    this.upstreamMs = clock.monotonicMs() - this.waitingSinceMs;
    const { headers, units } = this.responseHeaders(status, rawHeaders);
    if (units !== null) this.countUnits(units, () => undefined);
    const switching = switchingProtocols(this.withOwn(headers));
    this.state = 'open';
    const { socket: client, head } = this.request.takeConnection();
    this.#tunnel = new Tunnel(client, upstream, limits.bodyIdleMs, this);
    client.write(switching);
    this.#tunnel.open(head, rest);
  }

  onClosed(): void {
    this.finish(101, null);
  }

  protected override closeOpen(unheard: boolean): void {
    if (!unheard) return this.#close(revokedCloseCode, 'access was withdrawn', 'withdrawn');
    this.finish(101, 'withdrawn');
    this.#tunnel?.reset();
  }

  override goAway(): void {
    if (this.state === 'open') this.#close(goingAwayCode, 'the gateway is going away', null);
  }

  override check(nowMs: number): void {
    // Opening a connection has its own timeout.
    if (this.state === 'queued') return;
    if (this.state !== 'open') return super.check(nowMs);
    if (this.decision.checkExpiry()) return void this.revoke();
    this.#tunnel?.hold(this.isAboveShare());
    if (this.#tunnel?.idle(nowMs))
      this.#close(policyCode, 'nothing was read for too long', 'request_timeout');
  }

  #close(closeCode: number, reason: string, code: RequestRecord['code']): void {
    this.finish(101, code);
    this.#tunnel?.end(closeCode, reason);
  }

  protected override work(): number {
    return this.#tunnel?.work ?? super.work();
  }

  override get heldBytes(): number {
    return this.#connection === null ? 0 : openBytes + super.heldBytes;
  }

  countHeld(): void {
    this.request.countHeld();
  }

  protected override progress(): ResponseProgress {
    if (this.#tunnel === null) return super.progress();
    const { bytesIn, bytesOut } = this.#tunnel;
    return { status: this.response.status, bytesIn, bytesOut };
  }

  protected override release(): void {
    super.release();
    this.#dropConnection();
  }

  #dropConnection(): void {
    if (this.#connection !== null) resetConnection(this.#connection);
    this.#connection = null;
    if (this.#place !== null) this.route.upstream.webSockets.giveBack(this.#place);
    this.#place = null;
  }
}

guardMethods(WebSocketExchange, undefined, 'check', 'goAway', 'onClosed');
