import type { LimitsConfig } from '../config.ts';
import type { ConnectionWaits } from '../ports/connection-waits.ts';
import { Shares, type Share, type Tenancy } from './shares.ts';

type InFlightLimits = Pick<LimitsConfig, 'inFlightPerTenant' | 'maxConnections'>;

/**
 * Counts the requests and upstream connections of each tenant and parent, so that none can take everything. One object
 * serves all generations of the configuration, so that a tenant gets no more after a reload than before.
 */
export class TenantConcurrency {
  /** Limits in force. A reload may change them at any time. A request that already has a place keeps it. */
  limits: InFlightLimits;
  /** Bytes of request bodies held in memory. */
  readonly heldBodies = new Shares();
  /**
   * Places for requests. There are as many places as client connections may be open, because each connection has at
   * most one request under way.
   */
  readonly #inFlight = new Shares();
  readonly #routes = new Map<string, RouteShares>();
  readonly #waitsOf: ((prefix: string) => ConnectionWaits) | undefined;

  /** @param waitsOf returns, for the prefix of a route, the observer of requests that wait for a connection */
  constructor(limits: InFlightLimits, waitsOf?: (prefix: string) => ConnectionWaits) {
    this.limits = limits;
    this.#waitsOf = waitsOf;
  }

  /**
   * Takes a place for a request; returns `null` if its tenant or parent may take no more. The caller gives the place
   * back with {@link leave}.
   */
  enter(tenancy: Tenancy): Share | null {
    const share = this.#inFlight.find(tenancy);
    const { inFlightPerTenant, maxConnections } = this.limits;
    if (share.held >= inFlightPerTenant || !this.#inFlight.hasRoom(share, maxConnections)) return null;
    this.#inFlight.take(share);
    return share;
  }

  leave(share: Share): void {
    this.#inFlight.giveBack(share);
  }

  /** Returns the shares of a route. After a reload, a route with the same prefix and upstream keeps its shares. */
  sharesOf({ prefix, upstream }: { readonly prefix: string; readonly upstream: string }): RouteShares {
    const route = `${prefix} ${upstream}`;
    let shares = this.#routes.get(route);
    if (shares !== undefined) return shares;
    for (const [name, { connections, webSockets }] of this.#routes) {
      if (connections.unused && webSockets.unused) this.#routes.delete(name);
    }
    shares = { connections: new Shares(this.#waitsOf?.(prefix)), webSockets: new Shares() };
    this.#routes.set(route, shares);
    return shares;
  }
}

/** Shares of all tenants in one route. */
export interface RouteShares {
  /** Connections that carry a request or are being made for one. */
  readonly connections: Shares;
  /** Connections of WebSockets, and of requests that ask for a WebSocket. */
  readonly webSockets: Shares;
}
