import type { AccountId } from '../../domain/ids.ts';
import type { Shares } from '../../limits/concurrency.ts';

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

  /** Takes a place; `false` where the tenant has its share of them. Each `true` must be followed by one {@link leave}. */
  enter(tenant: AccountId | null): boolean {
    const share = this.#shares.use(tenant);
    if (this.#shares.hasRoom(share, this.#most)) {
      this.#shares.take(share);
      return true;
    }
    this.#shares.release(share);
    return false;
  }

  leave(tenant: AccountId | null): void {
    const share = this.#shares.use(tenant);
    this.#shares.giveBack(share);
    // Once for this call, once for that of `enter`.
    this.#shares.release(share);
    this.#shares.release(share);
  }
}
