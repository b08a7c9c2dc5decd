import type { LimitsConfig, RouteConfig } from '../config.ts';
import type { ConnectionWaits } from '../ports/connection-waits.ts';
import type { Problem } from '../domain/problem.ts';
import { Shares, type Share, type Tenancy } from './shares.ts';

/**
 * The tenant has `in_flight_per_tenant` requests in flight, or the tenant or its parent has used up its share of all
 * requests in flight. The same goes for the network of a client that sends no key,
 * and for management calls, of which each key has a share.
 */
export const tooManyInFlight: Problem = {
  code: 'too_many_requests',
  detail: 'Too many requests are in flight already. Wait for responses to some of them.',
  retryAfter: 1,
  limit: 'requests_in_flight',
};

/** Management calls have this part of the number of requests in flight, but at least {@link leastCalls} places. */
const callsShare = 1 / 8;
const leastCalls = 64;

type InFlightLimits = Pick<LimitsConfig, 'inFlightPerTenant' | 'maxConnections'>;

/**
 * Counts the requests and upstream connections of each tenant and each parent, so that no tenant or parent can take
 * them all. A single instance outlives all configuration reloads, so requests from before a reload still count after
 * it.
 */
export class TenantConcurrency {
  /** Current limits. A reload may change them at any time, but a request that already has a slot keeps it. */
  limits: InFlightLimits;
  /**
   * Shares of the slots for requests. There are `maxConnections` slots, because each client connection has at most one
   * request in progress.
   */
  readonly #inFlight = new Shares();
  /** Shares of the slots for calls, which proxied requests cannot take. People in the portal keep no parent's program out. */
  readonly #calls = { management: new Shares(), portal: new Shares() };
  readonly #routes = new Map<string, RouteShares>();
  readonly #waitsOf: ((prefix: string) => ConnectionWaits) | undefined;

  /**
   * @param waitsOf takes a route's prefix and returns the observer of the route's requests that wait for a connection
   */
  constructor(limits: InFlightLimits, waitsOf?: (prefix: string) => ConnectionWaits) {
    this.limits = limits;
    this.#waitsOf = waitsOf;
  }

  /**
   * Reserves a slot for a request. Returns `null` if the tenant has `inFlightPerTenant` requests in flight, or if the
   * tenant or its parent has used up its share of the slots. The caller must free the slot with {@link leave}.
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

  /**
   * Counts an event stream that holds a slot and a connection. Returns `null` if too few of either would be left for the
   * tenant's requests. The caller must end each of the returned shares' streams.
   */
  beginStream(tenancy: Tenancy, route: RouteConfig): Share[] | null {
    const { inFlightPerTenant, maxConnections } = this.limits;
    const { connections } = this.sharesOf(route);
    const [slots, ofRoute] = [this.#inFlight.find(tenancy), connections.find(tenancy)];
    const mostSlots = Math.min(inFlightPerTenant, this.#inFlight.mostOf(slots, maxConnections));
    if (!fits(slots, mostSlots) || !fits(ofRoute, connections.mostOf(ofRoute, route.connections)))
      return null;
    for (const share of [slots, ofRoute]) share.streams += 1;
    return [slots, ofRoute];
  }

  /**
   * Reserves a slot for a call to an API of the gateway, until its response has been sent.
   *
   * @param tenancy the key or session, and its parent
   * @returns a function that frees the slot; `null` if the key or session or its parent has used up its share
   */
  enterCall(to: 'management' | 'portal', tenancy: Tenancy): (() => void) | null {
    const most = Math.max(leastCalls, this.limits.maxConnections * callsShare);
    const calls = this.#calls[to];
    const share = calls.enter(tenancy, most);
    return share && (() => calls.giveBack(share));
  }

  /** Returns a route's shares. A route that keeps its prefix and upstream across a reload keeps its shares too. */
  sharesOf({ prefix, upstream, open }: Pick<RouteConfig, 'prefix' | 'upstream' | 'open'>): RouteShares {
    const isOpen = open !== null;
    const route = `${prefix} ${upstream}${isOpen ? ' open' : ''}`;
    let shares = this.#routes.get(route);
    if (shares !== undefined) return shares;
    for (const [name, { connections, webSockets }] of this.#routes) {
      if (connections.unused && webSockets.unused) this.#routes.delete(name);
    }
    const connections = new Shares(this.#waitsOf?.(prefix), isOpen);
    shares = { connections, webSockets: new Shares(undefined, isOpen) };
    this.#routes.set(route, shares);
    return shares;
  }
}

/** Whether a tenant may have one more event stream: an eighth of what it may hold is left to its requests. */
function fits({ streams }: Share, most: number): boolean {
  return streams === 0 || 8 * (streams + 1) <= 7 * most;
}

/** All tenants' shares of one route's connections. */
export interface RouteShares {
  /** Connections that carry a request or are being opened for one. */
  readonly connections: Shares;
  /**
   * Connections used by WebSockets, and by requests to open a WebSocket. A request that gets none is rejected right away,
   * because a WebSocket may stay open for days.
   */
  readonly webSockets: Shares;
}
