/** Items of one tenant that {@link RoundRobin.take} removed from the queue. */
export interface Turn<T, Tenant = string> {
  readonly tenant: Tenant;
  /** The removed items, at least one, longest-waiting first. */
  readonly things: readonly T[];
}

/**
 * A queue that serves waiting tenants round robin: a tenant that was served moves behind all other waiting tenants, so
 * no tenant can delay the others by adding many items. Each tenant's items stay in order.
 */
export class RoundRobin<T, Tenant = string> {
  /**
   * Number of waiting items across all tenants. It is a plain field because every proxied request reads it; only this
   * class may write it.
   */
  size = 0;
  /** Waiting items by tenant. The tenant that comes first in the map is served next. */
  readonly #waiting = new Map<Tenant, T[]>();

  /** Returns the number of waiting items of one tenant. */
  sizeOf(tenant: Tenant): number {
    return this.#waiting.get(tenant)?.length ?? 0;
  }

  /** Adds an item. If the tenant has no other waiting items, the tenant joins the end of the queue of tenants. */
  add(tenant: Tenant, thing: T): void {
    const things = this.#waiting.get(tenant);
    if (things === undefined) this.#waiting.set(tenant, [thing]);
    else things.push(thing);
    this.size += 1;
  }

  /**
   * Returns the next tenant to serve, and moves it behind all other waiting tenants. The tenant's items stay in the
   * queue.
   *
   * @param mayTake says whether a tenant may be served; other tenants are skipped and keep their positions
   * @returns `undefined` if no tenant is waiting, or if all are skipped
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
   * Removes and returns the longest-waiting items of the next tenant to serve, and moves the tenant as {@link next}
   * does.
   *
   * @param most maximum number of items to remove
   */
  take(most: number, mayTake?: (tenant: Tenant) => boolean): Turn<T, Tenant> | undefined {
    const tenant = this.next(mayTake);
    if (tenant === undefined) return undefined;
    const things = this.#waiting.get(tenant)?.splice(0, most) ?? [];
    this.size -= things.length;
    if (this.sizeOf(tenant) === 0) this.#waiting.delete(tenant);
    return { tenant, things };
  }

  /** Removes and returns a tenant's longest-waiting item. The tenant keeps its position. */
  takeFrom(tenant: Tenant): T | undefined {
    const things = this.#waiting.get(tenant);
    if (things === undefined) return undefined;
    this.size -= 1;
    if (things.length === 1) this.#waiting.delete(tenant);
    return things.shift();
  }

  /** Removes and returns each tenant's items, up to the tenant's first item for which `condition` is false. */
  takeWhile(condition: (thing: T) => boolean): T[] {
    return [...this.#waiting].flatMap(([tenant, things]) => {
      const end = things.findIndex((thing) => !condition(thing));
      const taken = things.splice(0, end === -1 ? things.length : end);
      this.size -= taken.length;
      if (things.length === 0) this.#waiting.delete(tenant);
      return taken;
    });
  }

  /**
   * Moves a tenant behind all other waiting tenants. Call this when the work on one of the tenant's items has finished.
   */
  moveBack(tenant: Tenant): void {
    const things = this.#waiting.get(tenant);
    if (things === undefined) return;
    this.#waiting.delete(tenant);
    this.#waiting.set(tenant, things);
  }

  /** Removes one of a tenant's items. Does nothing if the item is not in the queue. */
  remove(tenant: Tenant, thing: T): void {
    const things = this.#waiting.get(tenant);
    const at = things?.indexOf(thing) ?? -1;
    if (things === undefined || at < 0) return;
    things.splice(at, 1);
    this.size -= 1;
    if (things.length === 0) this.#waiting.delete(tenant);
  }
}
