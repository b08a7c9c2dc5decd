import { Turns } from '../../domain/turns.ts';
import type { Clock } from '../../ports/clock.ts';
import type { TurnWaits } from '../../ports/turn-waits.ts';
import type { OutgoingRequest } from './message-head.ts';

/** What is told that a request came to nothing. */
export interface Failing {
  onFailure(error: Error): void;
  /** No connection could be made for it. */
  onRefused(error: Error): void;
}

interface Waiting<Handler> {
  readonly request: OutgoingRequest;
  readonly handler: Handler;
  readonly sinceMs: number;
  /** No connection could be made for it when it came. */
  forItsTurn: boolean;
  over: boolean;
}

/** Whose request waits. */
interface Connecting {
  /** Connections that are being made for it. */
  readonly opening: number;
}

/** The requests that wait for a connection to one upstream, and how long those do that have to wait for their turn. */
export class WaitingRequests<Handler extends Failing, Tenant extends Connecting> extends Turns<
  Waiting<Handler>,
  Tenant
> {
  readonly #clock: Clock;
  readonly #waits: TurnWaits;

  constructor(clock: Clock, waits: TurnWaits) {
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
   * @param serve sends what can be sent now, and makes the connections that can be made
   */
  enter(tenant: Tenant, request: OutgoingRequest, handler: Handler, serve: () => void): void {
    const sinceMs = this.#clock.monotonicMs();
    const waiting = { request, handler, sinceMs, forItsTurn: false, over: false };
    this.add(tenant, waiting);
    serve();
    // The others wait for a connection that is being made, which is no matter of turns.
    if (waiting.over || !this.lacks(tenant)) return;
    waiting.forItsTurn = true;
    this.#waits.began();
  }

  /** Ends the longest wait of a tenant. @returns what waited; `undefined` where nothing does */
  end(tenant: Tenant): Waiting<Handler> | undefined {
    const waiting = this.takeFrom(tenant);
    if (waiting !== undefined) this.#end(waiting);
    return waiting;
  }

  /** Fails what has waited since before `beforeMs`. */
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
