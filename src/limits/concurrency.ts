import type { AccountId } from '../domain/ids.ts';

/** Counts requests under way, per tenant, so that one tenant cannot take every connection. */
export class TenantConcurrency {
  /** Slots of one tenant. A reload may change it at any time; a request that has a slot keeps it. */
  most: number;
  #counts = new Map<AccountId, number>();
  #room = leastRoom;

  constructor(most: number) {
    this.most = most;
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

  /** A tenant without requests stays in the map, since most come back; only when the map is full are those removed. */
  #makeRoom(): void {
    if (this.#counts.size < this.#room) return;
    this.#counts = new Map([...this.#counts].filter(([, count]) => count > 0));
    this.#room = Math.max(leastRoom, 2 * this.#counts.size);
  }
}

const leastRoom = 10_000;
