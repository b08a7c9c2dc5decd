import type { LimitsConfig } from '../config.ts';
import type { TurnWaits } from '../ports/turn-waits.ts';
import { Shares, type Share, type Tenancy } from './shares.ts';

type InFlightLimits = Pick<LimitsConfig, 'inFlightPerTenant' | 'maxConnections'>;

/**
 * Counts what each tenant and each parent has under way, so that none can take everything: requests in the process, and
 * connections to each upstream. One for all generations of the configuration: a reload gives no tenant more than it had.
 */
export class TenantConcurrency {
  /** A reload may change them at any time; a request that has a place keeps it. */
  limits: InFlightLimits;
  /** Bytes of request bodies that are held in memory. */
  readonly heldBodies = new Shares();
  /** As many places as there may be connections of clients: each of those has one request under way. */
  readonly #inFlight = new Shares();
  readonly #routes = new Map<string, RouteShares>();
  readonly #waitsOf: ((prefix: string) => TurnWaits) | undefined;

  /** @param waitsOf is told of requests that wait for a connection, by the prefix of their route */
  constructor(limits: InFlightLimits, waitsOf?: (prefix: string) => TurnWaits) {
    this.limits = limits;
    this.#waitsOf = waitsOf;
  }

  /** Takes a place for a request; `null` if its tenant or parent has none left. Each share must be followed by one {@link leave}. */
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

  /** Who holds what of a route. It is the same route after a reload while its prefix and its upstream are the same. */
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

/** What the tenants of one route hold. */
export interface RouteShares {
  /** Connections that carry a request, or are made for one. */
  readonly connections: Shares;
  /** Connections of WebSockets, and of requests for one. */
  readonly webSockets: Shares;
}
