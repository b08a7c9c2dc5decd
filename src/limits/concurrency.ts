import type { AccountId } from '../domain/ids.ts';
import type { TurnWaits } from '../ports/turn-waits.ts';

/**
 * Counts what each tenant has under way, so that no tenant can take everything: requests in the process, and connections
 * to each upstream. One for all generations of the configuration: a reload gives no tenant more than it had.
 */
export class TenantConcurrency {
  /** Slots of one tenant. A reload may change it at any time; a request that has a slot keeps it. */
  most: number;
  #counts = new Map<AccountId, number>();
  #room = leastRoom;
  readonly #routes = new Map<string, RouteShares>();
  readonly #waitsOf: (prefix: string) => TurnWaits;

  /** @param waitsOf is told of requests that wait for a connection, by the prefix of their route */
  constructor(most: number, waitsOf: (prefix: string) => TurnWaits = () => unseen) {
    this.most = most;
    this.#waitsOf = waitsOf;
  }

  /** Takes a slot; `false` where the tenant has none left. Each `true` must be followed by one {@link leave}. */
  enter(tenant: AccountId): boolean {
    const count = this.#counts.get(tenant);
    if (count === undefined) this.#makeRoom();
    else if (count >= this.most) return false;
    this.#counts.set(tenant, (count ?? 0) + 1);
    return true;
  }

  leave(tenant: AccountId): void {
    this.#counts.set(tenant, (this.#counts.get(tenant) ?? 1) - 1);
  }

  /** Who holds what of a route. It is the same route after a reload while its prefix and its upstream are the same. */
  sharesOf({ prefix, upstream }: { readonly prefix: string; readonly upstream: string }): RouteShares {
    const route = `${prefix} ${upstream}`;
    let shares = this.#routes.get(route);
    if (shares !== undefined) return shares;
    for (const [name, { connections, webSockets }] of this.#routes) {
      if (connections.unused && webSockets.unused) this.#routes.delete(name);
    }
    shares = { connections: new Shares(this.#waitsOf(prefix)), webSockets: new Shares() };
    this.#routes.set(route, shares);
    return shares;
  }

  /** A tenant without requests stays in the map, since most come back; only when the map is full are those removed. */
  #makeRoom(): void {
    if (this.#counts.size < this.#room) return;
    this.#counts = new Map([...this.#counts].filter(([, count]) => count > 0));
    this.#room = Math.max(leastRoom, 2 * this.#counts.size);
  }
}

const leastRoom = 10_000;

const unseen: TurnWaits = { began: () => undefined, ended: () => undefined };

/** What the tenants of one route hold. */
export interface RouteShares {
  /** Connections that carry a request, or are made for one. */
  readonly connections: Shares;
  /** Connections of WebSockets, and of requests for one. */
  readonly webSockets: Shares;
}

/** What one tenant holds. */
export interface Share {
  readonly tenant: AccountId | null;
  held: number;
  /** Keep it in memory though it holds nothing. */
  users: number;
}

/** The connections of one generation of the configuration, for which requests may be waiting. */
export interface SharingPool {
  /** Connections have been given back, perhaps by another pool. */
  serveWaiting(): void;
}

/**
 * Divides a number of connections among tenants: each may hold at most half of what the others leave, and one that holds
 * none may take any that is left. So there are some left for a tenant that comes late, however much the others want: one
 * alone holds half of them, the next a quarter (dynamic thresholds, Choudhury and Hahne 1998). Requests without a tenant
 * count as those of one more tenant.
 */
export class Shares {
  /** Held by all tenants together. */
  taken = 0;
  /** Is told of requests that wait because there is no room. */
  readonly waits: TurnWaits;
  readonly #shares = new Map<AccountId | null, Share>();
  /** The latest comes last. */
  readonly #pools: SharingPool[] = [];

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

  /** The share of a tenant. Each call must be followed by one {@link release}. */
  use(tenant: AccountId | null): Share {
    let share = this.#shares.get(tenant);
    if (share === undefined) this.#shares.set(tenant, (share = { tenant, held: 0, users: 0 }));
    share.users += 1;
    return share;
  }

  release(share: Share): void {
    share.users -= 1;
    if (share.users === 0) this.#shares.delete(share.tenant);
  }

  /** Whether a tenant may take another connection. @param most connections there are */
  hasRoom({ held }: Share, most: number): boolean {
    return held === 0 ? this.taken < most : held + this.taken + 2 <= most;
  }

  take(share: Share): void {
    share.held += 1;
    this.taken += 1;
  }

  giveBack(share: Share): void {
    share.held -= 1;
    this.taken -= 1;
  }

  /** For the requests that wait in other pools. */
  serveOthers(pool: SharingPool): void {
    if (this.#pools.length < 2) return;
    for (const other of [...this.#pools]) if (other !== pool) other.serveWaiting();
  }
}
