import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ProblemError, problemStatus, type Problem } from '../domain/problem.ts';
import type { FactKey } from '../ports/facts.ts';
import type { FinishedExchange } from './finished.ts';
import { Judgement, type Parties } from './judgement.ts';
import { headersFor, type Relay } from './relay.ts';
import { clientGone, reportFinished } from './report.ts';
import type { Stream } from './streams.ts';

/** The part of a WebSocket (of the `ws` package) that is used here. */
export interface WebSocketLike {
  readonly bufferedAmount: number;
  close(code: number, reason: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** Close code for a WebSocket that lived by an access which was withdrawn; 4000–4999 are for applications. */
export const withdrawnCloseCode = 4403;

/** Bytes a peer may leave unread before the other one is paused. */
const mostBuffered = 1024 * 1024;
/** After a close frame the peer has this long to close before it is cut. */
const closingMs = 1000;

/** One WebSocket on its way through, from the request for it to its end. @fastify/http-proxy moves the messages. */
export class Upgrade implements Stream, Parties {
  place = 0;
  readonly #relay: Relay;
  readonly #request: IncomingMessage;
  readonly #requestId: string;
  readonly #startedMs: number;
  readonly #judgement: Judgement;
  readonly #proceed: (problem?: ProblemError) => void;
  #state: 'deciding' | 'connecting' | 'open' | 'over' = 'deciding';
  #ends: { readonly client: WebSocketLike; readonly upstream: WebSocketLike } | null = null;
  #connecting: ClientRequest | null = null;
  #code: FinishedExchange['code'] = null;
  #bytesIn = 0;
  #bytesOut = 0;

  /** @param proceed called once: without a problem where the upgrade may be made */
  constructor(
    relay: Relay,
    request: IncomingMessage,
    requestId: string,
    proceed: (problem?: ProblemError) => void,
  ) {
    this.#relay = relay;
    this.#request = request;
    this.#requestId = requestId;
    this.#proceed = proceed;
    this.#startedMs = relay.tools.clock.monotonicMs();
    this.#judgement = new Judgement(relay, this);
  }

  start(): void {
    this.#relay.tools.streams.enter(this);
    this.#request.socket.once('close', () => this.#finish(this.#state === 'open' ? 101 : clientGone));
    this.#judgement.open(this.#request);
  }

  admitted(): void {
    if (this.#state === 'over') return this.#judgement.close();
    this.#state = 'connecting';
    this.#proceed();
  }

  refused(problem: Problem, cause?: unknown): void {
    if (this.#state === 'over') return;
    this.#code = problem.code;
    this.#finish(problemStatus(problem.code), cause);
    this.#proceed(new ProblemError(problem));
  }

  /** The headers for the upstream, as an object: the handshake's own are made anew by whoever connects. */
  headers(): Record<string, string | string[]> {
    const flat = headersFor(this.#relay, this.#request, this.#requestId, this.#judgement.admission);
    const headers: Record<string, string | string[]> = {};
    for (let i = 0; i < flat.length; i += 2) {
      const name = (flat[i] as string).toLowerCase();
      const value = flat[i + 1] as string;
      if (name.startsWith('sec-websocket-')) continue;
      const earlier = headers[name];
      headers[name] = earlier === undefined ? value : [earlier, value].flat();
    }
    return headers;
  }

  /**
   * Holds the handshake back until there is a connection, and decides once more in the tick that sends it. What goes
   * wrong on the way is told without host or port, since it ends up in the close frame.
   */
  finishRequest(handshake: ClientRequest): void {
    this.#connecting = handshake;
    handshake.prependListener('error', (error: Error) => {
      this.#code ??= 'upstream_unreachable';
      const { route, tools } = this.#relay;
      tools.failures.write(error, { route: route.prefix, requestId: this.#requestId, code: this.#code });
      error.message = 'The service behind this gateway could not be reached.';
    });
    handshake.once('socket', (socket: Socket) => {
      socket.on('drain', this.#resume);
      const ready = (): void => {
        if (this.#state === 'connecting' && this.#judgement.stillHolds()) handshake.end();
        else handshake.destroy(new Error('access was withdrawn'));
      };
      if (socket.connecting) socket.once('encrypted' in socket ? 'secureConnect' : 'connect', ready);
      else ready();
    });
  }

  opened(client: WebSocketLike, upstream: WebSocketLike): void {
    if (this.#state === 'over') return upstream.terminate();
    this.#state = 'open';
    this.#ends = { client, upstream };
    this.#request.socket.on('drain', this.#resume);
  }

  /** A message is about to go on. Whoever sends faster than the other end reads is paused. */
  passing(direction: 'in' | 'out', bytes: number): void {
    if (direction === 'in') this.#bytesIn += bytes;
    else this.#bytesOut += bytes;
    if (this.#ends === null) return;
    const { client, upstream } = this.#ends;
    const [from, to] = direction === 'in' ? [client, upstream] : [upstream, client];
    if (to.bufferedAmount > mostBuffered) from.pause();
  }

  livesBy(): readonly FactKey[] {
    return this.#judgement.livesBy();
  }

  withdraw(): boolean {
    if (this.#state === 'over' || this.#state === 'deciding') return false;
    this.#code = 'withdrawn';
    this.#connecting?.destroy();
    const { socket } = this.#request;
    if (this.#ends === null) {
      socket.destroy();
    } else {
      this.#ends.client.close(withdrawnCloseCode, 'access was withdrawn');
      this.#ends.upstream.terminate();
      setTimeout(() => socket.destroy(), closingMs).unref();
    }
    this.#finish(this.#state === 'open' ? 101 : 503);
    return true;
  }

  check(): void {
    if (this.#judgement.expired) this.withdraw();
    else this.#resume();
  }

  readonly #resume = (): void => {
    if (this.#ends === null) return;
    const { client, upstream } = this.#ends;
    if (upstream.bufferedAmount <= mostBuffered) client.resume();
    if (client.bufferedAmount <= mostBuffered) upstream.resume();
  };

  #finish(status: number, cause?: unknown): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    reportFinished(this.#relay, this.#judgement, {
      requestId: this.#requestId,
      method: this.#request.method ?? '',
      target: this.#request.url ?? '',
      status,
      code: this.#code,
      startedMs: this.#startedMs,
      upstreamMs: null,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      cause,
    });
    this.#relay.tools.streams.leave(this);
    this.#judgement.close();
  }
}
