/** Things that one tenant gets in its turn. */
export interface Turn<T, Tenant = string> {
  readonly tenant: Tenant;
  /** At least one. */
  readonly things: readonly T[];
}

/**
 * A round-robin queue of things that wait, each for a tenant. After the turn of a tenant, every other waiting tenant
 * has a turn before that tenant's next one, however many things wait for that tenant. Things of one tenant keep their
 * order.
 */
export class RoundRobin<T, Tenant = string> {
  /**
   * Number of waiting things of all tenants. It is a plain field, because every proxied request reads it; only this
   * class writes it.
   */
  size = 0;
  /** Tenants in the order of their turns, the next one first. */
  readonly #waiting = new Map<Tenant, T[]>();

  /** Number of waiting things of one tenant. */
  sizeOf(tenant: Tenant): number {
    return this.#waiting.get(tenant)?.length ?? 0;
  }

  /** Adds a thing. A tenant that had nothing waiting gets its turn after all others. */
  add(tenant: Tenant, thing: T): void {
    const things = this.#waiting.get(tenant);
    if (things === undefined) this.#waiting.set(tenant, [thing]);
    else things.push(thing);
    this.size += 1;
  }

  /**
   * Returns the tenant whose turn it is, and moves the tenant behind all others that wait. The tenant's things stay in
   * the queue.
   *
   * @param mayTake tenants for which it returns false are skipped and keep their places
   * @returns `undefined` if no tenant may take its turn
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
   * Takes the longest-waiting things of the tenant whose turn it is, and moves the tenant as {@link next} does.
   *
   * @param most maximum number of things in one turn
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

  /** Takes things of every tenant, longest-waiting first, up to the first thing for which `condition` is false. */
  takeWhile(condition: (thing: T) => boolean): T[] {
    return [...this.#waiting].flatMap(([tenant, things]) => {
      const end = things.findIndex((thing) => !condition(thing));
      const taken = things.splice(0, end === -1 ? things.length : end);
      this.size -= taken.length;
      if (things.length === 0) this.#waiting.delete(tenant);
      return taken;
    });
  }

  /** Moves a tenant behind all others that wait. Call it when a thing that was taken for the tenant has ended. */
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
