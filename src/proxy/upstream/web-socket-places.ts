import type { Share, Shares, Tenancy } from '../../limits/shares.ts';

/**
 * Places for the WebSockets of one route. They are divided among tenants as connections are; who finds no place is told so
 * at once, since a WebSocket may stay for days.
 */
export class WebSocketPlaces {
  readonly #shares: Shares;
  readonly #most: number;

  /** @param shares of the tenants, in all generations of the configuration */
  constructor(shares: Shares, most: number) {
    this.#shares = shares;
    this.#most = most;
  }

  /** Takes a place; `null` if the tenant or its parent has its share of them. Each share must be followed by one {@link leave}. */
  enter(tenancy: Tenancy | null): Share | null {
    const share = this.#shares.use(tenancy);
    if (this.#shares.hasRoom(share, this.#most)) {
      this.#shares.take(share);
      return share;
    }
    this.#shares.release(share);
    return null;
  }

  leave(share: Share): void {
    this.#shares.giveBack(share);
    this.#shares.release(share);
  }
}
