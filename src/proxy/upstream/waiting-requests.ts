import { RoundRobin } from '../../domain/round-robin.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConnectionWaits } from '../../ports/connection-waits.ts';
import { UpstreamTimeout, WaitedInVain } from './errors.ts';
import type { OutgoingRequest } from './message-head.ts';
import type { OwnConnections } from './slots.ts';
import type { ResponseHandler } from './upstream-client.ts';

interface Waiting {
  readonly request: OutgoingRequest;
  readonly handler: ResponseHandler;
  readonly sinceMs: number;
  /** Whether the share of its tenant or parent is used up. */
  readonly isShareFull: () => boolean;
  /**
   * Whether the request waits until a connection becomes free, because no connection could be opened when the request
   * arrived.
   */
  forItsTurn: boolean;
  over: boolean;
}

/**
 * Requests waiting for a connection to one upstream. The class also measures how long requests wait for a connection to
 * become free.
 */
export class WaitingRequests extends RoundRobin<Waiting, OwnConnections> {
  readonly #clock: Clock;
  readonly #waits: ConnectionWaits;

  constructor(clock: Clock, waits: ConnectionWaits) {
    super();
    this.#clock = clock;
    this.#waits = waits;
  }

  /** Whether an owner has more waiting requests than connections being opened for it. */
  lacks(own: OwnConnections): boolean {
    return this.sizeOf(own) > own.opening;
  }

  /**
   * Adds a request that waits for a connection.
   *
   * @param serve sends all requests that can be sent now, and opens all connections that can be opened now
   * @param left called if the request leaves the queue
   * @param isShareFull says whether the share of its tenant or parent is used up
   */
  enter(
    own: OwnConnections,
    request: OutgoingRequest,
    handler: ResponseHandler,
    serve: () => void,
    left: () => void,
    isShareFull: () => boolean,
  ): void {
    const sinceMs = this.#clock.monotonicMs();
    const waiting = { request, handler, sinceMs, isShareFull, forItsTurn: false, over: false };
    this.add(own, waiting);
    handler.leaveQueue = () => {
      this.remove(own, waiting);
      this.#end(waiting);
      left();
      return inVain(waiting);
    };
    serve();
    // The wait is not measured if a connection is already being opened for the request.
    if (waiting.over || !this.lacks(own)) return;
    waiting.forItsTurn = true;
    this.#waits.began();
  }

  /** Takes the owner's request that has waited longest; returns `undefined` if none is waiting. */
  end(own: OwnConnections): Waiting | undefined {
    const waiting = this.takeFrom(own);
    if (waiting !== undefined) this.#end(waiting);
    return waiting;
  }

  /** Fails the requests that have been waiting since before `beforeMs` on the monotonic clock. */
  fail(beforeMs: number, reason: (waiting: Waiting) => Error = inVain): void {
    for (const waiting of this.takeWhile(({ sinceMs }) => sinceMs < beforeMs)) {
      this.#end(waiting);
      waiting.handler.onFailure(reason(waiting));
    }
  }

  #end(waiting: Waiting): void {
    waiting.over = true;
    waiting.handler.leaveQueue = null;
    if (waiting.forItsTurn) this.#waits.ended(this.#clock.monotonicMs() - waiting.sinceMs);
  }
}

function inVain({ forItsTurn, isShareFull }: Waiting): Error {
  return forItsTurn ? new WaitedInVain(isShareFull()) : new UpstreamTimeout('accept a connection');
}
