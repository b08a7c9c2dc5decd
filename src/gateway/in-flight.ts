import type { AccountId } from '../domain/ids.ts';

/** Counts requests under way, per tenant, so that one tenant cannot take every connection. */
export class InFlight {
  readonly #most: number;
  readonly #counts = new Map<AccountId, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place; `false` where the tenant has none left. Each `true` must be followed by one {@link leave}. */
  enter(tenant: AccountId): boolean {
    const count = this.#counts.get(tenant) ?? 0;
    if (count >= this.#most) return false;
    this.#counts.set(tenant, count + 1);
    return true;
  }

  leave(tenant: AccountId): void {
    const count = this.#counts.get(tenant) ?? 0;
    if (count > 1) this.#counts.set(tenant, count - 1);
    else this.#counts.delete(tenant);
  }
}
