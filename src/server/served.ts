import type { Socket } from 'node:net';
import type { LimitsConfig } from '../config.ts';
import type { Problem } from '../domain/problem.ts';
import type { ClientRequest, ClientResponse } from '../http/client-request.ts';
import type { Breakable } from '../http/guarded.ts';
import type { OfNetwork } from '../http/turn.ts';
import type { ClientAddress, TrustedPeers } from '../http/trusted-proxies.ts';
import type { HeldBytes } from '../limits/held-bytes.ts';
import type { Clock } from '../ports/clock.ts';
import { SendBuffer } from './send-buffer.ts';

/** Handlers for a listener's requests. If a handler throws, the connection ends. */
export interface Application {
  /** Serves a request. Requests on a connection come one at a time, each after the previous response has been sent. */
  readonly request: (request: ClientRequest, response: ClientResponse) => void;
  /**
   * Returns the bytes of a response to a request with a fault in its head, or for bytes that are no request, or that
   * came too slowly. It is the last response on its connection.
   *
   * @param toHead whether the request is a HEAD, whose response has no body (RFC 9110 §9.3.2)
   * @param target of the request, if there is one
   */
  readonly rawProblem: (problem: Problem, toHead: boolean, target?: string) => string;
  /** Determines the address of a request's client, for its share of the connections. */
  readonly addressOf: ClientAddress;
  /** Logs an exception that ended a connection. */
  readonly broke: (error: unknown) => void;
  /** Whether connections of this peer may grow old: it is a proxy in front of the gateway, with connections of many. */
  readonly isTrusted: TrustedPeers;
}

/** Parts of a listener that its connections share. A reload replaces their values. */
export class Served {
  application: Application;
  limits: LimitsConfig;
  /** Whether clients are to connect elsewhere, because the listener is about to close. */
  leaving = false;
  /** Header line that says for how long an idle connection is kept, with its CRLF. */
  keepAliveLine = '';
  readonly sendBuffer = new SendBuffer();
  readonly held: HeldBytes;
  readonly clock: Clock;

  constructor(application: Application, limits: LimitsConfig, clock: Clock, held: HeldBytes) {
    this.application = application;
    this.limits = limits;
    this.clock = clock;
    this.held = held;
    this.replace(application, limits);
  }

  replace(application: Application, limits: LimitsConfig): void {
    this.application = application;
    this.limits = limits;
    this.keepAliveLine = `Keep-Alive: timeout=${Math.floor(limits.keepAliveMs / 1000)}\r\n`;
  }
}

/** A client's connection, as the request and the response on it see it. */
export interface ServingConnection extends Breakable, OfNetwork {
  readonly socket: Socket;
  readonly served: Served;
  /**
   * Whether the response under way ends the connection, because the listener is about to close or the connection is old.
   * If bytes of another request have arrived, the response to that one will be the last.
   */
  readonly leavesNow: boolean;
  /** Whether the request under way has arrived in full. */
  readonly isComplete: boolean;
  /** Reads on from where the latest call stopped, as far as the bytes are wanted. */
  read(): void;
  /** Counts bytes of a body that is discarded. A client that sends too many is cut off. */
  discard(bytes: number): void;
  /** Counts anew what is held in memory for the client. */
  countHeld(): void;
  /** Called when the response has been written. It is over once the socket has sent it. */
  responded(): void;
  /** Stops reading, and gives the bytes away that have not been read. */
  release(): Buffer;
}
