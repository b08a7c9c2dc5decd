import type { AccountId } from '../../domain/ids.ts';
import type { Share, Shares, SharingPool } from '../../limits/concurrency.ts';
import { UpstreamTimeout } from './errors.ts';
import type { OutgoingRequest } from './message-head.ts';
import type { PooledConnection, PoolOptions } from './upstream-client.ts';
import { WaitingRequests, type Failing } from './waiting-requests.ts';

/** What the pool has of one tenant. */
interface TenantPool<Handler extends Failing> {
  readonly share: Share;
  /** Connections that are put by for it; the one that was used last comes last. */
  readonly idle: Slot<Handler>[];
  /** Connections that are being made for it. */
  opening: number;
}

/**
 * An idle connection is closed after `mostMs`, or `marginMs` before the time the upstream states in `Keep-Alive`:
 * otherwise a request could be written to a connection that the upstream is closing.
 */
const idle = { mostMs: 4000, marginMs: 2000 };

/**
 * The connections to one upstream. Nothing is sent twice.
 *
 * An upstream may send bytes behind any response, at any time, and the next request on that connection would take them for
 * its response. So a connection is made for one tenant, and carries no requests of another: idle, it is put by for its
 * tenant, and closed where another tenant needs its place. Where there is no tenant, it is not put by at all.
 *
 * A request takes the connection of its tenant that was used last. It waits where its tenant has its share of them, or all
 * are taken; tenants that wait are served in turn.
 */
export class Pool<Handler extends Failing> implements SharingPool {
  readonly #options: PoolOptions<Handler>;
  readonly #shares: Shares;
  readonly #tenants = new Map<AccountId | null, TenantPool<Handler>>();
  /** Of all connections, and of those being made. */
  readonly #slots = new Set<Slot<Handler>>();
  readonly #idle = new IdleOrder<Handler>();
  readonly #waiting: WaitingRequests<Handler, TenantPool<Handler>>;
  readonly #sweep: NodeJS.Timeout;
  #serving = false;
  #closed = false;

  constructor(options: PoolOptions<Handler>) {
    this.#options = options;
    this.#shares = options.shares;
    this.#waiting = new WaitingRequests(options.clock, options.shares.waits);
    this.#shares.join(this);
    this.#sweep = setInterval(() => this.#tidy(), 1000).unref();
  }

  /** Sends a request, once. */
  send(request: OutgoingRequest, handler: Handler): void {
    if (this.#closed) return handler.onFailure(new Error('the upstream is closed'));
    const { tenant } = request;
    let own = this.#tenants.get(tenant);
    if (own === undefined) {
      own = { share: this.#shares.use(tenant), idle: [], opening: 0 };
      this.#tenants.set(tenant, own);
    }
    const isNext = this.#waiting.size === 0 || this.#waiting.sizeOf(own) === 0;
    if (isNext && this.#shares.hasRoom(own.share, this.#options.most)) {
      const slot = this.#takeIdle(own);
      if (slot !== undefined) return this.#carry(slot, request, handler);
    }
    this.#waiting.enter(own, request, handler, () => this.serveWaiting());
  }

  /** Ends all connections, whatever is on them. What waits for one fails. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#sweep);
    this.#waiting.fail(Infinity, () => new Error('the upstream is closed'));
    for (const { connection, giveUp } of [...this.#slots]) {
      if (connection === null) giveUp?.();
      else connection.close();
    }
    for (const { share } of this.#tenants.values()) this.#shares.release(share);
    this.#tenants.clear();
    this.#shares.quit(this);
  }

  freed(slot: Slot<Handler>): void {
    const { share, idle } = slot.own;
    this.#shares.giveBack(share);
    slot.idleSinceMs = this.#options.clock.monotonicMs();
    slot.isIdle = true;
    idle.push(slot);
    this.#idle.add(slot);
    if (share.tenant === null || !this.#shares.isLatest(this)) slot.connection?.close();
    this.serveWaiting();
    this.#shares.serveOthers(this);
  }

  ended(slot: Slot<Handler>): void {
    const { share, idle } = slot.own;
    this.#slots.delete(slot);
    if (slot.isIdle) {
      idle.splice(idle.lastIndexOf(slot), 1);
      this.#idle.remove(slot);
    } else {
      this.#shares.giveBack(share);
    }
    this.serveWaiting();
    this.#shares.serveOthers(this);
  }

  #carry(slot: Slot<Handler>, request: OutgoingRequest, handler: Handler): void {
    this.#shares.take(slot.own.share);
    slot.connection?.send(request, handler);
  }

  #takeIdle(own: TenantPool<Handler>): Slot<Handler> | undefined {
    for (;;) {
      const slot = own.idle[own.idle.length - 1];
      if (slot === undefined) return undefined;
      if (this.#tooOld(slot)) slot.connection?.close();
      else {
        own.idle.pop();
        this.#idle.remove(slot);
        slot.isIdle = false;
        return slot;
      }
    }
  }

  serveWaiting(): void {
    if (this.#waiting.size === 0 || this.#serving) return;
    // A request that is not sent after all gives its connection back at once, which leads here again.
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

  readonly #canBeServed = (own: TenantPool<Handler>): boolean =>
    (own.idle.length > 0 || this.#waiting.lacks(own)) && this.#shares.hasRoom(own.share, this.#options.most);

  #serve(own: TenantPool<Handler>): void {
    const slot = this.#takeIdle(own);
    if (slot !== undefined) {
      const next = this.#waiting.end(own);
      if (next !== undefined) this.#carry(slot, next.request, next.handler);
    } else if (this.#waiting.lacks(own)) this.#connect(own);
  }

  #connect(own: TenantPool<Handler>): void {
    this.#shares.take(own.share);
    own.opening += 1;
    if (this.#shares.taken + this.#idle.size > this.#options.most) this.#idle.oldest?.connection?.close();
    const slot = new Slot(own, this);
    this.#slots.add(slot);
    slot.giveUp = this.#options.connect(slot, (made) => {
      own.opening -= 1;
      const next = this.#waiting.end(own);
      if (made instanceof Error) {
        next?.handler.onRefused(made);
        return this.ended(slot);
      }
      slot.connection = made;
      if (next === undefined) this.freed(slot);
      else made.send(next.request, next.handler);
    });
  }

  /** Closes what was idle for too long, and fails what has waited for too long: the pool is not told of most ends. */
  #tidy(): void {
    const { clock, connectMs } = this.#options;
    for (let slot = this.#idle.oldest; slot !== null;) {
      const { newer, connection } = slot;
      if (this.#tooOld(slot)) connection?.close();
      slot = newer;
    }
    this.#waiting.fail(clock.monotonicMs() - connectMs, () => new UpstreamTimeout('have a connection free'));
    for (const [tenant, own] of this.#tenants) {
      if (own.share.held > 0 || own.idle.length > 0 || this.#waiting.sizeOf(own) > 0) continue;
      this.#tenants.delete(tenant);
      this.#shares.release(own.share);
    }
  }

  #tooOld({ idleSinceMs, connection }: Slot<Handler>): boolean {
    const most = Math.min(idle.mostMs, (connection?.keepAliveMs ?? Infinity) - idle.marginMs);
    return this.#options.clock.monotonicMs() - idleSinceMs >= most;
  }
}

/** The place of one connection in a pool, from when it is being made to its end; all that time it belongs to one tenant. */
class Slot<Handler extends Failing> {
  readonly own: TenantPool<Handler>;
  /** `null` while it is being made. */
  connection: PooledConnection<Handler> | null = null;
  giveUp: (() => void) | null = null;
  isIdle = false;
  idleSinceMs = 0;
  /** Neighbours among the idle ones; only {@link IdleOrder} writes to them. */
  older: Slot<Handler> | null = null;
  newer: Slot<Handler> | null = null;
  readonly #pool: Pool<Handler>;

  constructor(own: TenantPool<Handler>, pool: Pool<Handler>) {
    this.own = own;
    this.#pool = pool;
  }

  free(): void {
    this.#pool.freed(this);
  }

  gone(): void {
    this.#pool.ended(this);
  }

  giveBack(request: OutgoingRequest, handler: Handler): void {
    this.#pool.send(request, handler);
  }
}

/** The idle connections of all tenants, in the order in which they became idle. */
class IdleOrder<Handler extends Failing> {
  size = 0;
  oldest: Slot<Handler> | null = null;
  #newest: Slot<Handler> | null = null;

  add(slot: Slot<Handler>): void {
    slot.older = this.#newest;
    if (this.#newest === null) this.oldest = slot;
    else this.#newest.newer = slot;
    this.#newest = slot;
    this.size += 1;
  }

  remove(slot: Slot<Handler>): void {
    const { older, newer } = slot;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    slot.older = slot.newer = null;
    this.size -= 1;
  }
}
