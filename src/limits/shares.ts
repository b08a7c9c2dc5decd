import type { Permit } from '../domain/acting-decision.ts';
import type { AccountId } from '../domain/ids.ts';
import type { TurnWaits } from '../ports/turn-waits.ts';

/** The accounts whose shares a request counts against. */
export type Tenancy = Pick<Permit, 'resolvedTenant' | 'parentTenant'>;

/** What a parent holds together with all of its sub-accounts. */
interface ParentShare {
  readonly parent: AccountId | null;
  held: number;
  /** Shares of its tenants that are in memory. */
  tenants: number;
}

/** What one tenant holds. */
export interface Share {
  /** `null` for requests without a key. */
  readonly tenant: AccountId | null;
  readonly parent: ParentShare;
  held: number;
  /** Each one keeps the share in memory though it holds nothing. */
  users: number;
}

/** The connections of one generation of the configuration, for which requests may be waiting. */
export interface SharingPool {
  /** Connections have been given back, perhaps by another pool. */
  serveWaiting(): void;
}

/** Requests without a key hold at most this part of what there is, and one in any case. */
const withoutKey = 1 / 8;

/** Shares in memory from which on those that hold nothing are dropped. */
const leastRoom = 10_000;

const unseen: TurnWaits = { began: () => undefined, ended: () => undefined };

/**
 * Divides a number of things (connections, WebSockets, requests in flight, bytes) among parents, and what a parent has
 * among its tenants: its sub-accounts and itself. A parent holds at most three quarters of what the other parents leave,
 * and a tenant alone half of that; beside other tenants of its parent two thirds of what those leave of the parent's part.
 * A tenant that holds nothing may take one as long as its parent may, and so may a parent that holds nothing while any is
 * left. So some are left for a parent that comes late, however many sub-accounts another one has, and within a parent
 * for a sub-account that comes late (dynamic thresholds, Choudhury and Hahne 1998).
 */
export class Shares {
  /** Held by all tenants together. */
  taken = 0;
  /** Is told of requests that wait because there is no room. */
  readonly waits: TurnWaits;
  readonly #shares = new Map<AccountId | null, Share>();
  readonly #parents = new Map<AccountId | null, ParentShare>();
  /** The latest comes last. */
  readonly #pools: SharingPool[] = [];
  #room = leastRoom;

  constructor(waits: TurnWaits = unseen) {
    this.waits = waits;
  }

  /** A pool takes from these shares from now on, in place of the one before. */
  join(pool: SharingPool): void {
    this.#pools.push(pool);
  }

  quit(pool: SharingPool): void {
    const index = this.#pools.indexOf(pool);
    if (index !== -1) this.#pools.splice(index, 1);
  }

  /** Whether no later configuration has taken its place. */
  isLatest(pool: SharingPool): boolean {
    return this.#pools[this.#pools.length - 1] === pool;
  }

  get unused(): boolean {
    return this.taken === 0 && this.#pools.length === 0;
  }

  /** The share of a tenant; it may be dropped from memory as soon as it holds nothing. @param tenancy `null` without a key */
  find(tenancy: Tenancy | null): Share {
    const tenant = tenancy === null ? null : tenancy.resolvedTenant;
    return this.#shares.get(tenant) ?? this.#add(tenant, tenancy === null ? null : tenancy.parentTenant);
  }

  /** The share of a tenant, which stays in memory. Each call must be followed by one {@link release}. */
  use(tenancy: Tenancy | null): Share {
    const share = this.find(tenancy);
    share.users += 1;
    return share;
  }

  release(share: Share): void {
    share.users -= 1;
    this.#dropUnused(share);
  }

  /**
   * Whether a tenant may take more.
   *
   * @param most all that there is
   * @param more how many it wants
   */
  hasRoom({ tenant, held, parent }: Share, most: number, more = 1): boolean {
    const left = most - this.taken;
    if (more > left) return false;
    if (tenant === null && held > 0 && held + more > most * withoutKey) return false;
    const forParent = left + parent.held;
    if (parent.held > 0 && 4 * (parent.held + more) > 3 * forParent) return false;
    // Two thirds of: three quarters of `forParent`, without what the parent's other tenants hold.
    return held === 0 || 6 * (held + more) <= 3 * forParent - 4 * (parent.held - held);
  }

  take(share: Share, more = 1): void {
    share.held += more;
    share.parent.held += more;
    this.taken += more;
  }

  giveBack(share: Share, less = 1): void {
    share.held -= less;
    share.parent.held -= less;
    this.taken -= less;
  }

  /** For the requests that wait in other pools. */
  serveOthers(pool: SharingPool): void {
    if (this.#pools.length < 2) return;
    for (const other of [...this.#pools]) if (other !== pool) other.serveWaiting();
  }

  #add(tenant: AccountId | null, parent: AccountId | null): Share {
    // Most tenants come back, so those that hold nothing are dropped all at once, and seldom.
    if (this.#shares.size >= this.#room) {
      for (const share of this.#shares.values()) this.#dropUnused(share);
      this.#room = Math.max(leastRoom, 2 * this.#shares.size);
    }
    let ofParent = this.#parents.get(parent);
    if (ofParent === undefined) this.#parents.set(parent, (ofParent = { parent, held: 0, tenants: 0 }));
    ofParent.tenants += 1;
    const share = { tenant, parent: ofParent, held: 0, users: 0 };
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
