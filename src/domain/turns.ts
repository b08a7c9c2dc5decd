/** What one tenant's turn is for. */
export interface Turn<T, Tenant = string> {
  readonly tenant: Tenant;
  /** At least one. */
  readonly things: readonly T[];
}

/**
 * Things that wait, each for a tenant. Tenants take turns: after something of one tenant, every other tenant that waits
 * comes first, however much the one has waiting. What waits for the same tenant keeps its order.
 */
export class Turns<T, Tenant = string> {
  /** What waits, of all tenants together. Written here alone; a field, because proxied requests look at it. */
  size = 0;
  /** In the order in which tenants have their turns: the next one first. */
  readonly #waiting = new Map<Tenant, T[]>();

  /** What waits of one tenant. */
  sizeOf(tenant: Tenant): number {
    return this.#waiting.get(tenant)?.length ?? 0;
  }

  /** A tenant that had nothing waiting has its turn after all others. */
  add(tenant: Tenant, thing: T): void {
    const things = this.#waiting.get(tenant);
    if (things === undefined) this.#waiting.set(tenant, [thing]);
    else things.push(thing);
    this.size += 1;
  }

  /**
   * The tenant whose turn it is. Its next turn comes after those of all who wait now; what it has waiting is left there.
   *
   * @param mayTake a tenant for which it returns false is passed over, and keeps its place
   * @returns `undefined` where no tenant is left that may
   */
  next(mayTake: (tenant: Tenant) => boolean = () => true): Tenant | undefined {
    for (const tenant of this.#waiting.keys()) {
      if (!mayTake(tenant)) continue;
      if (this.#waiting.size > 1) this.moveBack(tenant);
      return tenant;
    }
    return undefined;
  }

  /**
   * Takes what has waited longest of the tenant whose turn it is, as {@link next} says.
   *
   * @param most how many things one turn is for
   */
  take(most: number, mayTake?: (tenant: Tenant) => boolean): Turn<T, Tenant> | undefined {
    const tenant = this.next(mayTake);
    if (tenant === undefined) return undefined;
    const things = this.#waiting.get(tenant)?.splice(0, most) ?? [];
    this.size -= things.length;
    if (this.sizeOf(tenant) === 0) this.#waiting.delete(tenant);
    return { tenant, things };
  }

  /** Takes what has waited longest of a tenant, which keeps its place. */
  takeFrom(tenant: Tenant): T | undefined {
    const things = this.#waiting.get(tenant);
    if (things === undefined) return undefined;
    this.size -= 1;
    if (things.length === 1) this.#waiting.delete(tenant);
    return things.shift();
  }

  /** Takes what has waited longest of each tenant, as long as `condition` holds of it. */
  takeWhile(condition: (thing: T) => boolean): T[] {
    return [...this.#waiting].flatMap(([tenant, things]) => {
      const end = things.findIndex((thing) => !condition(thing));
      const taken = things.splice(0, end === -1 ? things.length : end);
      this.size -= taken.length;
      if (things.length === 0) this.#waiting.delete(tenant);
      return taken;
    });
  }

  /** Lets all others that wait now go before this tenant: to be called when what was taken for it has come to its end. */
  moveBack(tenant: Tenant): void {
    const things = this.#waiting.get(tenant);
    if (things === undefined) return;
    this.#waiting.delete(tenant);
    this.#waiting.set(tenant, things);
  }

  /** Takes out one thing that waits no longer. */
  remove(tenant: Tenant, thing: T): void {
    const things = this.#waiting.get(tenant);
    const at = things?.indexOf(thing) ?? -1;
    if (things === undefined || at < 0) return;
    things.splice(at, 1);
    this.size -= 1;
    if (things.length === 0) this.#waiting.delete(tenant);
  }
}
