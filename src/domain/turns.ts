/** What one tenant's turn is for. */
export interface Turn<T> {
  readonly tenant: string;
  /** At least one. */
  readonly things: readonly T[];
}

/**
 * Things that wait, each for a tenant. Tenants take turns: after something of one tenant, every other tenant that waits
 * comes first, however much the one has waiting. What waits for the same tenant keeps its order.
 */
export class Turns<T> {
  /** In the order in which tenants have their turns: the next one first. */
  readonly #waiting = new Map<string, T[]>();
  #size = 0;

  /** What waits, of all tenants together. */
  get size(): number {
    return this.#size;
  }

  /** What waits of one tenant. */
  sizeOf(tenant: string): number {
    return this.#waiting.get(tenant)?.length ?? 0;
  }

  /** A tenant that had nothing waiting has its turn after all others. */
  add(tenant: string, thing: T): void {
    const things = this.#waiting.get(tenant);
    if (things === undefined) this.#waiting.set(tenant, [thing]);
    else things.push(thing);
    this.#size += 1;
  }

  /**
   * Takes what has waited longest of the tenant whose turn it is. Its next turn comes after those of all who wait now.
   *
   * @param most how many things one turn is for
   * @param mayTake a tenant for which it returns false is passed over, and keeps its place
   * @returns `undefined` where no tenant is left that may
   */
  take(most: number, mayTake: (tenant: string) => boolean = () => true): Turn<T> | undefined {
    for (const [tenant, things] of this.#waiting) {
      if (!mayTake(tenant)) continue;
      const taken = things.splice(0, most);
      this.#size -= taken.length;
      this.#waiting.delete(tenant);
      if (things.length > 0) this.#waiting.set(tenant, things);
      return { tenant, things: taken };
    }
    return undefined;
  }

  /** Lets all others that wait now go before this tenant: to be called when what was taken for it has come to its end. */
  moveBack(tenant: string): void {
    const things = this.#waiting.get(tenant);
    if (things === undefined) return;
    this.#waiting.delete(tenant);
    this.#waiting.set(tenant, things);
  }

  /** Takes out one thing that waits no longer. */
  remove(tenant: string, thing: T): void {
    const things = this.#waiting.get(tenant);
    const at = things?.indexOf(thing) ?? -1;
    if (things === undefined || at < 0) return;
    things.splice(at, 1);
    this.#size -= 1;
    if (things.length === 0) this.#waiting.delete(tenant);
  }
}
