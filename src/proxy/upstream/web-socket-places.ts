import type { Share, Shares, Tenancy } from '../../limits/shares.ts';

/**
 * Slots for one route's WebSockets, divided among parents and tenants in the same way as connections. A request that
 * gets no slot is rejected right away, because a WebSocket may stay open for days.
 */
export class WebSocketPlaces {
  readonly #shares: Shares;
  readonly #most: number;

  /**
   * @param shares shares of parents and tenants, common to all generations of the configuration
   * @param most maximum number of open WebSockets
   */
  constructor(shares: Shares, most: number) {
    this.#shares = shares;
    this.#most = most;
  }

  /**
   * Reserves a slot. Returns the share to pass to {@link leave}; `null` if the tenant or its parent has used up its
   * share.
   */
  enter(tenancy: Tenancy): Share | null {
    const share = this.#shares.use(tenancy);
    if (this.#shares.hasRoom(share, this.#most)) {
      this.#shares.take(share);
      return share;
    }
    this.#shares.release(share);
    return null;
  }

  leave(share: Share): void {
    // After an exception, an exchange calls this function again. So the step that must not happen twice comes last.
    this.#shares.release(share);
    this.#shares.giveBack(share);
  }
}
