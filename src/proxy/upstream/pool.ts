import type { AccountId } from '../../domain/ids.ts';
import { Fault, guarded } from '../../http/guarded.ts';
import type { Shares, SharingPool } from '../../limits/shares.ts';
import { systemTimers } from '../../ports/timers.ts';
import type { AdmittedAs, OutgoingRequest } from './message-head.ts';
import { IdleOrder, Slot, type OwnConnections } from './slots.ts';
import type { PooledConnection, PoolOptions, ResponseHandler } from './upstream-client.ts';
import { WaitingRequests } from './waiting-requests.ts';

/**
 * Limits in milliseconds. An idle connection is closed after `mostMs`, or `marginMs` before the upstream's own limit
 * (stated in `Keep-Alive`), whichever comes first. Without these limits, a request could more easily be written to a
 * connection just as the upstream closes it.
 */
const idle = { mostMs: 4000, marginMs: 2000 };

/**
 * Connections to one upstream.
 *
 * An upstream may send extra bytes after any response, at any time, and the gateway would take them for the response to
 * the next request on that connection. So each connection carries only requests of one owner: a caller that acts as one
 * tenant. A parent that acts as a sub-account and the sub-account itself have separate connections, though both count
 * against the sub-account's share. Idle connections are kept, but may be closed to make room for another owner. A
 * connection that carried a request without a key has no tenant, and is closed after that one request.
 *
 * Old connections are closed between two requests, so that new addresses of the upstream's name come into use.
 *
 * A request takes its owner's most recently used idle connection. The request waits if its tenant or parent has used up
 * its share, or if all connections are taken. Waiting owners are served in turn.
 */
export class Pool implements SharingPool {
  readonly #options: PoolOptions;
  readonly #shares: Shares;
  /** Connections of each owner, by caller and then by tenant. */
  readonly #owners = new Map<AccountId | null, Map<string, OwnConnections>>();
  /** Slots of all connections, including those being opened. */
  readonly #slots = new Set<Slot>();
  readonly #idle = new IdleOrder();
  readonly #waiting: WaitingRequests;
  readonly #stopSweeping: () => void;
  #serving = false;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#shares = options.shares;
    this.#waiting = new WaitingRequests(options.clock, options.shares.waits);
    this.#shares.join(this);
    const tidy = guarded({ broke: options.report }, () => this.#tidy());
    this.#stopSweeping = (options.timers ?? systemTimers).every(1000, tidy);
  }

  /** Sends a request on one of its owner's idle connections, or makes the request wait for a connection. */
  send(request: OutgoingRequest, handler: ResponseHandler): void {
    if (this.#closed) return handler.onFailure(new Error('the upstream is closed'));
    const own = this.#ownerOf(request.admittedAs);
    const isNext = this.#waiting.size === 0 || this.#waiting.sizeOf(own) === 0;
    if (isNext && this.#shares.hasRoom(own.share, this.#options.most)) {
      const slot = this.#takeIdle(own);
      if (slot !== undefined) return this.#carry(slot, request, handler);
    }
    const serve = (): void => this.serveWaiting();
    const left = (): void => this.#left(own);
    const isShareFull = (): boolean => this.#shares.isFull(own.share, this.#options.most);
    this.#waiting.enter(own, request, handler, serve, left, isShareFull);
  }

  /**
   * A request has left the queue. If the oldest attempt to connect was its own, the attempt counts no longer: its failure
   * must not fail the next request, which makes an attempt itself.
   */
  #left(own: OwnConnections): void {
    if (own.opening <= this.#waiting.sizeOf(own)) return;
    for (const slot of this.#slots) {
      if (slot.own !== own || !slot.isOpening || slot.isSurplus) continue;
      slot.isSurplus = true;
      own.opening -= 1;
      return;
    }
  }

  /** Ends all connections, even those in use. Waiting requests fail. */
  close(): void {
    this.#closed = true;
    this.#stopSweeping();
    this.#waiting.fail(Infinity, () => new Error('the upstream is closed'));
    for (const { connection, giveUp } of [...this.#slots]) {
      if (connection === null) giveUp?.();
      else connection.close();
    }
    for (const owners of this.#owners.values())
      for (const { share } of owners.values()) this.#shares.release(share);
    this.#owners.clear();
    this.#shares.quit(this);
  }

  freed(slot: Slot): void {
    const { share, idle } = slot.own;
    slot.idleSinceMs = this.#options.clock.monotonicMs();
    slot.isIdle = true;
    this.#shares.giveBack(share);
    idle.push(slot);
    this.#idle.add(slot);
    if (share.parent.parent === null || !this.#shares.isLatest(this)) slot.connection?.close();
    this.serveWaiting();
    this.#shares.serveOthers(this);
  }

  ended(slot: Slot): void {
    if (!this.#slots.delete(slot)) return;
    const { share, idle } = slot.own;
    if (slot.isIdle) {
      idle.splice(idle.lastIndexOf(slot), 1);
      this.#idle.remove(slot);
    } else {
      this.#shares.giveBack(share);
    }
    this.serveWaiting();
    this.#shares.serveOthers(this);
  }

  #ownerOf(admittedAs: AdmittedAs): OwnConnections {
    const { permit } = admittedAs;
    const caller = admittedAs.caller === null ? null : admittedAs.caller.accountId;
    const tenant = permit.resolvedTenant;
    let owners = this.#owners.get(caller);
    if (owners === undefined) {
      owners = new Map<string, OwnConnections>();
      this.#owners.set(caller, owners);
    }
    let own = owners.get(tenant);
    if (own === undefined) {
      own = { share: this.#shares.use(permit), idle: [], opening: 0 };
      owners.set(tenant, own);
    }
    return own;
  }

  #carry({ connection }: Slot, request: OutgoingRequest, handler: ResponseHandler): void {
    try {
      connection?.send(request, handler);
    } catch (error) {
      connection?.close();
      handler.onFailure(new Fault(error));
    }
  }

  /** Takes an owner's most recently used idle connection, and counts it against the owner's share. */
  #takeIdle(own: OwnConnections): Slot | undefined {
    for (;;) {
      const slot = own.idle[own.idle.length - 1];
      if (slot === undefined) return undefined;
      if (this.#tooOld(slot)) slot.connection?.close();
      else {
        own.idle.pop();
        this.#idle.remove(slot);
        slot.isIdle = false;
        this.#shares.take(own.share);
        return slot;
      }
    }
  }

  serveWaiting(): void {
    if (this.#waiting.size === 0 || this.#serving) return;
    // If a request is not sent after all, its connection is freed right away. That calls this function again, so
    // `#serving` prevents a nested run.
    this.#serving = true;
    try {
      while (this.#shares.taken < this.#options.most) {
        const own = this.#waiting.next(this.#canBeServed);
        if (own === undefined) return;
        this.#serve(own);
      }
    } finally {
      this.#serving = false;
    }
  }

  readonly #canBeServed = (own: OwnConnections): boolean =>
    (own.idle.length > 0 || this.#waiting.lacks(own)) && this.#shares.hasRoom(own.share, this.#options.most);

  #serve(own: OwnConnections): void {
    const slot = this.#takeIdle(own);
    if (slot !== undefined) {
      const next = this.#waiting.end(own);
      if (next !== undefined) this.#carry(slot, next.request, next.handler);
    } else if (this.#waiting.lacks(own)) this.#connect(own);
  }

  #connect(own: OwnConnections): void {
    const slot = new Slot(own, this);
    this.#shares.take(own.share);
    own.opening += 1;
    this.#slots.add(slot);
    try {
      if (this.#shares.taken + this.#idle.size > this.#options.most) this.#idle.oldest?.connection?.close();
      slot.giveUp = this.#options.connect(slot, (made) => {
        try {
          this.#opened(slot, made);
        } catch (error) {
          if (!(made instanceof Error)) made.close();
          this.#opened(slot, new Fault(error));
        }
      });
    } catch (error) {
      this.#opened(slot, new Fault(error));
    }
  }

  /**
   * Starts using a new connection, or fails a waiting request if the connection could not be opened. Only the first
   * call for a slot has an effect.
   */
  #opened(slot: Slot, made: PooledConnection | Error): void {
    if (!slot.isOpening) return;
    slot.isOpening = false;
    if (!slot.isSurplus) slot.own.opening -= 1;
    const failsAlone = slot.isSurplus && made instanceof Error;
    const next = failsAlone ? undefined : this.#waiting.end(slot.own);
    if (made instanceof Error) {
      next?.handler.onRefused(made);
      return this.ended(slot);
    }
    slot.connection = made;
    const { ageMs, clock } = this.#options;
    slot.retiresAtMs = clock.monotonicMs() + ageMs * (0.5 + Math.random());
    if (next === undefined) this.freed(slot);
    else this.#carry(slot, next.request, next.handler);
  }

  /**
   * Closes connections that have been idle for too long, fails requests that have waited for too long, and forgets
   * owners without connections or requests. Runs every second, because no event tells the pool about most of these
   * cases.
   */
  #tidy(): void {
    const { clock, connectMs } = this.#options;
    for (let slot = this.#idle.oldest; slot !== null;) {
      const { newer, connection } = slot;
      if (this.#tooOld(slot)) connection?.close();
      slot = newer;
    }
    this.#waiting.fail(clock.monotonicMs() - connectMs);
    for (const [caller, owners] of this.#owners) {
      for (const [tenant, own] of owners) {
        if (own.share.held > 0 || own.idle.length > 0 || this.#waiting.sizeOf(own) > 0) continue;
        owners.delete(tenant);
        this.#shares.release(own.share);
      }
      if (owners.size === 0) this.#owners.delete(caller);
    }
  }

  #tooOld({ idleSinceMs, retiresAtMs, connection }: Slot): boolean {
    const most = Math.min(idle.mostMs, (connection?.keepAliveMs ?? Infinity) - idle.marginMs);
    return this.#options.clock.monotonicMs() >= Math.min(idleSinceMs + most, retiresAtMs);
  }
}
