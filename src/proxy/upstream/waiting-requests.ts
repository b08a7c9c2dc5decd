import { RoundRobin } from '../../domain/round-robin.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConnectionWaits } from '../../ports/connection-waits.ts';
import { UpstreamTimeout, WaitedInVain } from './errors.ts';
import type { OutgoingRequest } from './message-head.ts';

/** Handler of a request that may fail before it is sent. */
export interface Failing {
  /**
   * Takes the request out of the queue, with all that it holds, and returns why it has waited. `null` unless the request
   * waits for a connection. The handler must call it if its client leaves.
   */
  leaveQueue: (() => Error) | null;
  onFailure(error: Error): void;
  /** Called if no connection could be opened for the request: the upstream refuses connections, or is unreachable. */
  onRefused(error: Error): void;
}

interface Waiting<Handler> {
  readonly request: OutgoingRequest;
  readonly handler: Handler;
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

/** Owner of waiting requests: a caller that acts as one tenant. */
interface Connecting {
  /** Number of connections being opened for this owner. */
  readonly opening: number;
}

/**
 * Requests waiting for a connection to one upstream. The class also measures how long requests wait for a connection to
 * become free.
 */
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

  /** Whether `tenant` has more waiting requests than connections being opened for it. */
  lacks(tenant: Tenant): boolean {
    return this.sizeOf(tenant) > tenant.opening;
  }

  /**
   * Adds a request that waits for a connection.
   *
   * @param serve sends all requests that can be sent now, and opens all connections that can be opened now
   * @param left called if the request leaves the queue
   * @param isShareFull says whether the share of its tenant or parent is used up
   */
  enter(
    tenant: Tenant,
    request: OutgoingRequest,
    handler: Handler,
    {
      serve,
      left,
      isShareFull,
    }: Pick<Waiting<Handler>, 'isShareFull'> & { readonly serve: () => void; readonly left: () => void },
  ): void {
    const sinceMs = this.#clock.monotonicMs();
    const waiting = { request, handler, sinceMs, isShareFull, forItsTurn: false, over: false };
    this.add(tenant, waiting);
    handler.leaveQueue = () => {
      this.remove(tenant, waiting);
      this.#end(waiting);
      left();
      return inVain(waiting);
    };
    serve();
    // The wait is not measured if a connection is already being opened for the request.
    if (waiting.over || !this.lacks(tenant)) return;
    waiting.forItsTurn = true;
    this.#waits.began();
  }

  /** Takes the tenant's request that has waited longest; returns `undefined` if none is waiting. */
  end(tenant: Tenant): Waiting<Handler> | undefined {
    const waiting = this.takeFrom(tenant);
    if (waiting !== undefined) this.#end(waiting);
    return waiting;
  }

  /** Fails the requests that have been waiting since before `beforeMs` on the monotonic clock. */
  fail(beforeMs: number, reason: (waiting: Waiting<Handler>) => Error = inVain): void {
    for (const waiting of this.takeWhile(({ sinceMs }) => sinceMs < beforeMs)) {
      this.#end(waiting);
      waiting.handler.onFailure(reason(waiting));
    }
  }

  #end(waiting: Waiting<Handler>): void {
    waiting.over = true;
    waiting.handler.leaveQueue = null;
    if (waiting.forItsTurn) this.#waits.ended(this.#clock.monotonicMs() - waiting.sinceMs);
  }
}

function inVain({ forItsTurn, isShareFull }: Pick<Waiting<unknown>, 'forItsTurn' | 'isShareFull'>): Error {
  return forItsTurn ? new WaitedInVain(isShareFull()) : new UpstreamTimeout('accept a connection');
}
