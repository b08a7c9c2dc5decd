import type { AccountId } from '../domain/ids.ts';
import type { ConnectionWaits } from '../ports/connection-waits.ts';

/** Holders whose shares a request counts against. */
export interface Tenancy {
  /** Account that the request operates on; the client's network if the request has no key. */
  readonly resolvedTenant: string;
  /** Parent of the account; `null` if the request has no key. */
  readonly parentTenant: AccountId | null;
}

/** Combined share of a parent and all its sub-accounts. The parent `null` stands for all requests without a key. */
interface ParentShare {
  readonly parent: AccountId | null;
  held: number;
  /** Number of shares in memory that belong to tenants of this parent. */
  tenants: number;
}

/** Share of one tenant. */
export interface Share {
  readonly tenant: string;
  readonly parent: ParentShare;
  held: number;
  /** Number of event streams among what is held. */
  streams: number;
  /**
   * Number of {@link Shares.use} calls without a matching {@link Shares.release}. The share stays in memory until this
   * is 0, even if it holds nothing.
   */
  users: number;
}

/** Connection pool of one loaded configuration. Requests may have to wait for a connection. */
export interface SharingPool {
  /** Serves waiting requests after connections have been given back, possibly by another pool. */
  serveWaiting(): void;
}

/**
 * Fraction of the total that all requests without a key may hold together, unless they are the only ones. They may
 * always hold one unit.
 */
const withoutKey = 1 / 8;

/** Empty shares are dropped only once at least this many shares are in memory. */
const leastRoom = 10_000;

const unseen: ConnectionWaits = { began: () => undefined, ended: () => undefined };

/**
 * Divides a number of units (connections, WebSockets, requests in flight) among parents, and each parent's part
 * among its tenants: the parent itself and its sub-accounts.
 *
 * - A parent's part is three quarters of the units that other parents do not hold. A parent holds at most its part.
 * - A tenant holds at most two thirds of the units of that part that the parent's other tenants do not hold. So a
 *   parent's only tenant holds at most half of the units that other parents do not hold.
 * - Requests without a key hold at most {@link withoutKey} of all units. Each client network counts as a tenant.
 * - A parent that holds nothing may take one unit, as long as one is left. A tenant that holds nothing may do so
 *   whenever its parent may.
 *
 * So a parent that arrives late still finds room, however many sub-accounts another parent has. The same goes for a
 * sub-account within its parent (dynamic thresholds, Choudhury and Hahne 1998).
 */
export class Shares {
  /** Total number of units held by all tenants. */
  taken = 0;
  /** Observer of requests that wait because there is no room. */
  readonly waits: ConnectionWaits;
  readonly #shares = new Map<string, Share>();
  readonly #parents = new Map<AccountId | null, ParentShare>();
  /** Pools that take from these shares, in the order in which they joined. */
  readonly #pools: SharingPool[] = [];
  readonly #withoutKey: number;
  #room = leastRoom;

  /** @param open whether all requests come without a key, as on an open route */
  constructor(waits: ConnectionWaits = unseen, open = false) {
    this.waits = waits;
    this.#withoutKey = open ? 1 : withoutKey;
  }

  /** Adds the pool of a new configuration. From then on, earlier pools close each connection when its request ends. */
  join(pool: SharingPool): void {
    this.#pools.push(pool);
  }

  quit(pool: SharingPool): void {
    const index = this.#pools.indexOf(pool);
    if (index !== -1) this.#pools.splice(index, 1);
  }

  /** Whether this pool was the last to join, and so belongs to the latest configuration. */
  isLatest(pool: SharingPool): boolean {
    return this.#pools[this.#pools.length - 1] === pool;
  }

  get unused(): boolean {
    return this.taken === 0 && this.#pools.length === 0;
  }

  /**
   * Returns a tenant's share. A share that holds nothing may be dropped from memory unless {@link use} keeps it there.
   */
  find({ resolvedTenant, parentTenant }: Tenancy): Share {
    return this.#shares.get(resolvedTenant) ?? this.#add(resolvedTenant, parentTenant);
  }

  /** Returns a tenant's share and keeps it in memory. The caller must call {@link release} later. */
  use(tenancy: Tenancy): Share {
    const share = this.find(tenancy);
    share.users += 1;
    return share;
  }

  release(share: Share): void {
    share.users -= 1;
    this.#dropUnused(share);
  }

  /** Whether a tenant may take one more unit. @param most total number of units */
  hasRoom(share: Share, most: number): boolean {
    return this.taken + 1 <= most && !this.isFull(share, most);
  }

  /** Whether a tenant's or its parent's share is used up. The parameters are those of {@link hasRoom}. */
  isFull(share: Share, most: number): boolean {
    const { held, parent } = share;
    if (parent.held > 0 && parent.held + 1 > this.#mostOfParent(parent, most)) return true;
    return held > 0 && held + 1 > this.mostOf(share, most);
  }

  /** Maximum number of units that a tenant that holds some may hold now, unless its parent's part is used up. */
  mostOf({ held, parent }: Share, most: number): number {
    const part = Math.min(this.#mostOfParent(parent, most), this.#usual(parent, most));
    return (2 * (part - (parent.held - held))) / 3;
  }

  #mostOfParent(parent: ParentShare, most: number): number {
    return parent.parent === null ? most * this.#withoutKey : this.#usual(parent, most);
  }

  #usual({ held }: ParentShare, most: number): number {
    return (3 * (most - this.taken + held)) / 4;
  }

  /** Takes a unit if there is room. Returns the share to {@link giveBack} it to; `null` if there is no room. */
  enter(tenancy: Tenancy, most: number): Share | null {
    const share = this.find(tenancy);
    if (!this.hasRoom(share, most)) return null;
    this.take(share);
    return share;
  }

  take(share: Share): void {
    share.held += 1;
    share.parent.held += 1;
    this.taken += 1;
  }

  giveBack(share: Share): void {
    share.held -= 1;
    share.parent.held -= 1;
    this.taken -= 1;
  }

  /** Serves requests that are waiting in other pools. */
  serveOthers(pool: SharingPool): void {
    if (this.#pools.length < 2) return;
    for (const other of [...this.#pools]) if (other !== pool) other.serveWaiting();
  }

  #add(tenant: string, parent: AccountId | null): Share {
    // Most tenants come back, so empty shares are dropped rarely, and all at once.
    if (this.#shares.size >= this.#room) {
      for (const share of this.#shares.values()) this.#dropUnused(share);
      this.#room = Math.max(leastRoom, 2 * this.#shares.size);
    }
    let ofParent = this.#parents.get(parent);
    if (ofParent === undefined) this.#parents.set(parent, (ofParent = { parent, held: 0, tenants: 0 }));
    ofParent.tenants += 1;
    const share = { tenant, parent: ofParent, held: 0, streams: 0, users: 0 };
    this.#shares.set(tenant, share);
    return share;
  }

  #dropUnused({ tenant, parent, held, users }: Share): void {
    if (held > 0 || users > 0) return;
    this.#shares.delete(tenant);
    parent.tenants -= 1;
    if (parent.tenants === 0) this.#parents.delete(parent.parent);
  }
}
