import type { Share, Shares, Tenancy } from '../../limits/shares.ts';

/**
 * Places for the WebSockets of one route, divided among tenants like connections. A request without a place is rejected
 * at once, since a WebSocket may stay for days.
 */
export class WebSocketPlaces {
  readonly #shares: Shares;
  readonly #most: number;

  /** @param shares of the tenants; all generations of the configuration use the same ones */
  constructor(shares: Shares, most: number) {
    this.#shares = shares;
    this.#most = most;
  }

  /**
   * Takes a place; `null` if the tenant or its parent has used up its share. The caller gives each share back with
   * {@link leave}.
   */
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
    // An exchange calls this again after an exception, so the step that may not happen twice comes last.
    this.#shares.release(share);
    this.#shares.giveBack(share);
  }
}
