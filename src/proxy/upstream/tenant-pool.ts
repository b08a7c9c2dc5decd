import type { Share } from '../../limits/concurrency.ts';

/** What a pool has of one tenant: the connections that are put by for it, and its requests that wait for one. */
export class TenantPool<Connection, Waiting> {
  readonly share: Share;
  /** The one that was used last comes last. */
  readonly idle: Connection[] = [];
  readonly waiting = new Fifo<Waiting>();
  /** Connections that are being made for it. */
  opening = 0;
  /** It stands in a {@link Line}: whenever a request of it waits, and perhaps a little longer. */
  inLine = false;

  constructor(share: Share) {
    this.share = share;
  }

  /** There is nothing of the tenant. */
  get empty(): boolean {
    return this.share.held === 0 && this.idle.length === 0 && this.waiting.size === 0;
  }
}

/** Tenants whose requests wait. They are served in turn, one request each, however many requests of a tenant wait. */
export class Line<Each extends TenantPool<unknown, unknown>> {
  size = 0;
  readonly #tenants = new Fifo<Each>();

  /** A request has begun to wait. */
  enter(tenant: Each): void {
    if (tenant.inLine) return;
    tenant.inLine = true;
    this.#tenants.push(tenant);
    this.size += 1;
  }

  /** The tenant whose turn it is, of those that can be served. It goes to the end of the line. */
  next(canBeServed: (tenant: Each) => boolean): Each | undefined {
    for (let left = this.size; left > 0; left--) {
      const tenant = this.#tenants.shift() as Each;
      if (tenant.waiting.size === 0) {
        tenant.inLine = false;
        this.size -= 1;
        continue;
      }
      this.#tenants.push(tenant);
      if (canBeServed(tenant)) return tenant;
    }
    return undefined;
  }
}

/** A queue whose operations cost the same however long it is; `Array.shift` moves every entry. */
class Fifo<T> {
  readonly #entries: (T | undefined)[] = [];
  #first = 0;

  get size(): number {
    return this.#entries.length - this.#first;
  }

  /** The one that {@link shift} would take. */
  get first(): T | undefined {
    return this.#entries[this.#first];
  }

  push(entry: T): void {
    this.#entries.push(entry);
  }

  shift(): T | undefined {
    const entry = this.#entries[this.#first];
    if (this.#first < this.#entries.length) this.#entries[this.#first++] = undefined;
    // The rest is moved down only once in `mostGone` calls.
    if (this.#first === this.#entries.length || this.#first === mostGone) {
      this.#entries.splice(0, this.#first);
      this.#first = 0;
    }
    return entry;
  }
}

/** Emptied entries at the front of the array, at most. */
const mostGone = 1000;
