/** Things of one tenant that {@link RoundRobin.take} removed from the queue. */
export interface Turn<T, Tenant = string> {
  readonly tenant: Tenant;
  /** The taken things, at least one, longest-waiting first. */
  readonly things: readonly T[];
}

/**
 * A queue that serves waiting tenants round robin: a tenant that was served moves behind all other waiting tenants. So
 * no tenant delays the others by adding many things. Things of one tenant keep their order.
 */
export class RoundRobin<T, Tenant = string> {
  /**
   * Number of waiting things of all tenants. It is a plain field, because every proxied request reads it; only this
   * class writes it.
   */
  size = 0;
  /** Waiting things by tenant. The tenant to serve next comes first. */
  readonly #waiting = new Map<Tenant, T[]>();

  /** Number of waiting things of one tenant. */
  sizeOf(tenant: Tenant): number {
    return this.#waiting.get(tenant)?.length ?? 0;
  }

  /** Adds a thing. If nothing else waits for the tenant, the tenant is served after all other tenants. */
  add(tenant: Tenant, thing: T): void {
    const things = this.#waiting.get(tenant);
    if (things === undefined) this.#waiting.set(tenant, [thing]);
    else things.push(thing);
    this.size += 1;
  }

  /**
   * Returns the tenant to serve next, and moves it behind all other waiting tenants. The tenant's things stay in the
   * queue.
   *
   * @param mayTake tenants for which it returns false are skipped and keep their places
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
   * Takes the longest-waiting things of the tenant to serve next, and moves the tenant as {@link next} does.
   *
   * @param most maximum number of things to take
   */
  take(most: number, mayTake?: (tenant: Tenant) => boolean): Turn<T, Tenant> | undefined {
    const tenant = this.next(mayTake);
    if (tenant === undefined) return undefined;
    const things = this.#waiting.get(tenant)?.splice(0, most) ?? [];
    this.size -= things.length;
    if (this.sizeOf(tenant) === 0) this.#waiting.delete(tenant);
    return { tenant, things };
  }

  /** Takes the longest-waiting thing of a tenant. The tenant keeps its place. */
  takeFrom(tenant: Tenant): T | undefined {
    const things = this.#waiting.get(tenant);
    if (things === undefined) return undefined;
    this.size -= 1;
    if (things.length === 1) this.#waiting.delete(tenant);
    return things.shift();
  }

  /** Takes the longest-waiting things of each tenant, up to the first thing for which `condition` is false. */
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
   * Moves a tenant behind all other waiting tenants. Call it when the work on a thing taken for the tenant has ended.
   */
  moveBack(tenant: Tenant): void {
    const things = this.#waiting.get(tenant);
    if (things === undefined) return;
    this.#waiting.delete(tenant);
    this.#waiting.set(tenant, things);
  }

  /** Removes a thing that no longer waits. */
  remove(tenant: Tenant, thing: T): void {
    const things = this.#waiting.get(tenant);
    const at = things?.indexOf(thing) ?? -1;
    if (things === undefined || at < 0) return;
    things.splice(at, 1);
    this.size -= 1;
    if (things.length === 0) this.#waiting.delete(tenant);
  }
}
