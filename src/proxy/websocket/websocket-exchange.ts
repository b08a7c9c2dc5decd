import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { problemStatus, type Problem } from '../../domain/problem.ts';
import type { FactKey } from '../../ports/facts.ts';
import type { RequestRecord } from '../../ports/request-record.ts';
import { consentFault, prepareHandshake, switchingProtocols } from './handshake.ts';
import { Judgement, type Parties } from '../decision.ts';
import { neverSettled, withdrawn, upstreamProblem } from '../problems.ts';
import { writeProblem } from '../write-problem.ts';
import { headersFor, type Relay } from '../route.ts';
import { clientGone, reportFinished } from '../finish.ts';
import { takeConnection } from '../ingress/accept-upgrades.ts';
import { StallWatch } from '../idle-timeout.ts';
import type { Stream } from '../active-exchanges.ts';
import { Tunnel } from './tunnel.ts';
import { connectTo } from '../upstream/upstream.ts';

/** Close code for a WebSocket that lived by an access which was withdrawn; 4000–4999 are for applications. */
export const withdrawnCloseCode = 4403;
/** The process is about to end (RFC 6455 §7.4.1). */
const goingAwayCode = 1001;

/** Facts that are forgotten as fast as they are loaded must not keep a request going round for ever. */
const mostSuperseded = 10;

/**
 * One request for a WebSocket on its way through: decided about, put to the upstream, answered as the upstream answers;
 * where it consents, a tunnel from then on, counted once when it ends.
 */
export class Upgrade implements Stream, Parties {
  place = 0;
  readonly #relay: Relay;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #requestId: string;
  readonly #startedMs: number;
  readonly #judgement: Judgement;
  #state: 'deciding' | 'connecting' | 'asked' | 'answering' | 'open' | 'over' = 'deciding';
  #superseded = 0;
  #connection: Socket | null = null;
  #connectingMs = 0;
  #askedMs = 0;
  #upstreamMs: number | null = null;
  #tunnel: Tunnel | null = null;
  #answerBytes = 0;
  #answerWatch: StallWatch | null = null;

  constructor(relay: Relay, request: IncomingMessage, response: ServerResponse, requestId: string) {
    this.#relay = relay;
    this.#request = request;
    this.#response = response;
    this.#requestId = requestId;
    this.#startedMs = relay.tools.clock.monotonicMs();
    this.#judgement = new Judgement(relay, request, this);
  }

  /** Takes the request from here to its end. */
  start(): void {
    this.#relay.tools.streams.enter(this);
    const { socket } = this.#request;
    socket.on('readable', this.#onReadable);
    socket.once('end', () => {
      if (this.#state !== 'open' && this.#state !== 'answering') socket.destroy();
    });
    socket.once('close', () => {
      if (this.#state === 'answering') this.#finish(this.#response.statusCode, 'client_gone');
      else if (this.#state !== 'open') this.#finish(clientGone, 'client_gone');
    });
    this.#judgement.open(this.#request);
  }

  /** The client's end is noticed while nothing is read from it, unless it is behind bytes that came too early. */
  readonly #onReadable = (): void => {
    const { socket } = this.#request;
    if (socket.readableLength === 0) socket.read();
  };

  admitted(): void {
    if (this.#state === 'over') return this.#judgement.close();
    this.#state = 'connecting';
    this.#connectingMs = this.#relay.tools.clock.monotonicMs();
    const connection = connectTo(this.#relay.upstream, () => this.#prepare(connection));
    connection.on('error', (error) => this.#failed(connection, error));
    this.#connection = connection;
  }

  refused(problem: Problem, cause?: unknown): void {
    if (this.#state !== 'over') this.#refuse(problem, cause);
  }

  #prepare(connection: Socket): void {
    if (this.#connection !== connection) return;
    const headers = headersFor(this.#relay, this.#request, this.#requestId, this.#judgement);
    if (this.#relay.route.host === 'upstream') headers.push('host', this.#relay.upstream.origin.host);
    const handshake = prepareHandshake(connection, this.#request.url ?? '', headers);
    handshake.on('error', (error) => this.#failed(connection, error));
    handshake.once('socket', () => this.#ask(handshake));
  }

  /** Sends the handshake, where what was decided holds in the tick that does so. */
  #ask(handshake: ClientRequest): void {
    if (this.#state !== 'connecting') return void handshake.destroy();
    if (!this.#judgement.stillHolds()) return this.#decideAgain();
    this.#state = 'asked';
    this.#askedMs = this.#relay.tools.clock.monotonicMs();
    handshake.once('upgrade', (answer, upstream: Socket, head) => this.#upgraded(answer, upstream, head));
    handshake.once('response', (answer) => this.#answered(answer));
    handshake.end();
  }

  #decideAgain(): void {
    this.#giveConnectionUp();
    if (++this.#superseded > mostSuperseded) return this.#refuse(neverSettled);
    this.#state = 'deciding';
    this.#judgement.reopen();
  }

  #upgraded(answer: IncomingMessage, upstream: Socket, upstreamHead: Buffer): void {
    if (this.#state !== 'asked') return void upstream.destroy();
    const fault = consentFault(answer, this.#request.headers['sec-websocket-key'] ?? '');
    if (fault !== undefined) return this.#failed(upstream, new Error(fault));
    const switching = switchingProtocols(this.#cleaned(answer));
    this.#state = 'open';
    this.#request.socket.off('readable', this.#onReadable);
    const { socket: client, head } = takeConnection(this.#response);
    const { bodyIdleMs } = this.#relay.tools.limits;
    this.#tunnel = new Tunnel(client, upstream, bodyIdleMs, () => this.#finish(101, null));
    client.write(switching);
    this.#tunnel.open(head, upstreamHead);
  }

  /** The upstream answers as to any request, and so is the client. */
  #answered(answer: IncomingMessage): void {
    if (this.#state !== 'asked' || this.#connection === null) return;
    let headers: string[];
    try {
      if (answer.statusCode === 101) throw new Error('the upstream answered 101 without an upgrade');
      headers = this.#cleaned(answer);
    } catch (error) {
      return this.#failed(this.#connection, error);
    }
    this.#state = 'answering';
    this.#response.writeHead(answer.statusCode ?? 0, answer.statusMessage, headers);
    this.#response.flushHeaders();
    answer.on('data', (chunk: Buffer) => (this.#answerBytes += chunk.length));
    const cut = (error: unknown): void => this.#finish(this.#response.statusCode, 'cut_by_upstream', error);
    // Ahead of the pipeline, which takes the client's connection down before it says so: that is not the client's leaving.
    answer.once('error', cut);
    pipeline(answer, this.#response, (error) => {
      if (error) cut(error);
      else this.#finish(this.#response.statusCode, null);
    });
  }

  #cleaned({ statusCode = 0, rawHeaders }: IncomingMessage): string[] {
    const { answers, clock } = this.#relay.tools;
    this.#upstreamMs = clock.monotonicMs() - this.#askedMs;
    const tenant = this.#judgement.admission?.permit.resolvedTenant ?? null;
    return answers.headers(statusCode, rawHeaders, this.#requestId, tenant).headers;
  }

  #failed(connection: Socket, error: unknown): void {
    if (this.#connection !== connection) return;
    if (this.#state === 'connecting' || this.#state === 'asked') this.#refuse(upstreamProblem(error), error);
  }

  livesBy(): readonly FactKey[] {
    return this.#judgement.livesBy();
  }

  withdraw(): boolean {
    if (this.#state === 'asked') {
      this.#refuse(withdrawn);
    } else if (this.#state === 'answering') {
      this.#finish(this.#response.statusCode, 'withdrawn');
      this.#response.destroy();
    } else if (this.#state === 'open') {
      this.#close(withdrawnCloseCode, 'access was withdrawn', 'withdrawn');
    } else {
      // What has not been sent yet is decided again when it is.
      return false;
    }
    return true;
  }

  goAway(): void {
    if (this.#state === 'open') this.#close(goingAwayCode, 'the gateway is going away', null);
  }

  check(nowMs: number): void {
    const { timeouts } = this.#relay.route;
    const tooLate =
      (this.#state === 'connecting' && nowMs - this.#connectingMs > timeouts.connectMs) ||
      (this.#state === 'asked' && nowMs - this.#askedMs > timeouts.headersMs);
    if (tooLate) return this.#refuse(upstreamProblem({ code: 'ETIMEDOUT' }));
    if (this.#judgement.expired) return void this.withdraw();
    if (this.#state === 'open' && this.#tunnel?.stalled(nowMs)) {
      this.#close(1008, 'nothing was read for too long', 'request_timeout');
    } else if (this.#state === 'answering') {
      this.#answerWatch ??= new StallWatch(timeouts.bodyMs);
      if (!this.#answerWatch.stalled(true, this.#answerBytes, nowMs)) return;
      this.#finish(this.#response.statusCode, 'cut_by_upstream');
      this.#response.destroy();
    }
  }

  #close(closeCode: number, reason: string, code: RequestRecord['code']): void {
    this.#finish(101, code);
    this.#tunnel?.end(closeCode, reason);
  }

  #refuse(problem: Problem, cause?: unknown): void {
    const tenant = this.#judgement.admission?.permit.resolvedTenant;
    this.#answerBytes = writeProblem(this.#response, problem, {
      target: this.#request.url ?? '',
      requestId: this.#requestId,
      headers: tenant === undefined ? [] : [this.#relay.tools.names.resolvedTenant, tenant],
    });
    this.#finish(problemStatus(problem.code), problem.code, cause);
  }

  #finish(status: number, code: RequestRecord['code'], cause?: unknown): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#request.socket.off('readable', this.#onReadable);
    reportFinished(this.#relay, this.#judgement, {
      requestId: this.#requestId,
      method: this.#request.method ?? '',
      target: this.#request.url ?? '',
      status,
      code,
      startedMs: this.#startedMs,
      upstreamMs: this.#upstreamMs,
      bytesIn: this.#tunnel?.bytesIn ?? 0,
      bytesOut: this.#tunnel?.bytesOut ?? this.#answerBytes,
      cause,
    });
    this.#relay.tools.streams.leave(this);
    this.#judgement.close();
    this.#giveConnectionUp();
  }

  #giveConnectionUp(): void {
    this.#connection?.destroy();
    this.#connection = null;
  }
}
