import { RoundRobin } from '../../domain/round-robin.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConnectionWaits } from '../../ports/connection-waits.ts';
import type { OutgoingRequest } from './message-head.ts';

/** Handler that is told of a failed request. */
export interface Failing {
  onFailure(error: Error): void;
  /** Called if no connection could be made for the request. */
  onRefused(error: Error): void;
}

interface Waiting<Handler> {
  readonly request: OutgoingRequest;
  readonly handler: Handler;
  readonly sinceMs: number;
  /** Whether the request waits for a turn, because no connection could be made for it when it came. */
  forItsTurn: boolean;
  over: boolean;
}

/** Tenant whose request waits. */
interface Connecting {
  /** Number of connections that are being made for the tenant. */
  readonly opening: number;
}

/** Requests that wait for a connection to one upstream. The class also measures how long they wait for a turn. */
export class WaitingRequests<Handler extends Failing, Tenant extends Connecting> extends RoundRobin<
  Waiting<Handler>,
  Tenant
> {
  readonly #clock: Clock;
  readonly #waits: ConnectionWaits;

  constructor(clock: Clock, waits: ConnectionWaits) {
    super();
    this.#clock = clock;
    this.#waits = waits;
  }

  /** Whether more requests of a tenant wait than connections are being made for it. */
  lacks(tenant: Tenant): boolean {
    return this.sizeOf(tenant) > tenant.opening;
  }

  /**
   * Lets a request wait.
   *
   * @param serve sends all requests that can be sent now, and makes the possible connections
   */
  enter(tenant: Tenant, request: OutgoingRequest, handler: Handler, serve: () => void): void {
    const sinceMs = this.#clock.monotonicMs();
    const waiting = { request, handler, sinceMs, forItsTurn: false, over: false };
    this.add(tenant, waiting);
    serve();
    // Other requests wait for a connection that is being made, and not for a turn.
    if (waiting.over || !this.lacks(tenant)) return;
    waiting.forItsTurn = true;
    this.#waits.began();
  }

  /** Ends the longest wait of a tenant. @returns its request; `undefined` if none waits */
  end(tenant: Tenant): Waiting<Handler> | undefined {
    const waiting = this.takeFrom(tenant);
    if (waiting !== undefined) this.#end(waiting);
    return waiting;
  }

  /** Fails the requests that have waited since before `beforeMs`. */
  fail(beforeMs: number, reason: () => Error): void {
    for (const waiting of this.takeWhile(({ sinceMs }) => sinceMs < beforeMs)) {
      this.#end(waiting);
      waiting.handler.onFailure(reason());
    }
  }

  #end(waiting: Waiting<Handler>): void {
    waiting.over = true;
    if (waiting.forItsTurn) this.#waits.ended(this.#clock.monotonicMs() - waiting.sinceMs);
  }
}
