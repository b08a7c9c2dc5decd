import type { Share } from '../../limits/shares.ts';
import type { OutgoingRequest } from './message-head.ts';
import type { PooledConnection, ResponseHandler } from './upstream-client.ts';

/** Connections of one owner: a caller that acts as one tenant. */
export interface OwnConnections {
  /** The tenant's share, which is the same for all callers that act as the tenant. */
  readonly share: Share;
  /** Idle connections in order of last use, the most recent one last. */
  readonly idle: Slot[];
  /** Number of connections that are being opened for requests that wait. */
  opening: number;
}

/** Methods of the pool that its slots call. */
interface SlotPool {
  send(request: OutgoingRequest, handler: ResponseHandler): void;
  freed(slot: Slot): void;
  ended(slot: Slot): void;
}

/**
 * A connection's place in a pool, from the attempt to open the connection until the connection ends. A slot never
 * changes owners.
 */
export class Slot {
  readonly own: OwnConnections;
  /** `null` while the connection is being opened. */
  connection: PooledConnection | null = null;
  giveUp: (() => void) | null = null;
  isOpening = true;
  /** Whether the request that the connection was to be opened for has left the queue. */
  isSurplus = false;
  isIdle = false;
  idleSinceMs = 0;
  /** Monotonic time from which the connection carries no further request. */
  retiresAtMs = Infinity;
  /** Slot that became idle just before this slot. Only {@link IdleOrder} writes it. */
  older: Slot | null = null;
  /** Slot that became idle just after this slot. Only {@link IdleOrder} writes it. */
  newer: Slot | null = null;
  readonly #pool: SlotPool;

  constructor(own: OwnConnections, pool: SlotPool) {
    this.own = own;
    this.#pool = pool;
  }

  free(): void {
    this.#pool.freed(this);
  }

  gone(): void {
    this.#pool.ended(this);
  }

  giveBack(request: OutgoingRequest, handler: ResponseHandler): void {
    // The upstream has probably ended the owner's other idle connections as well, because each has been idle for longer
    // than this one.
    for (const { connection } of [...this.own.idle]) connection?.close();
    this.#pool.send(request, handler);
  }
}

/** Idle connections of all tenants, in the order in which they became idle. */
export class IdleOrder {
  size = 0;
  oldest: Slot | null = null;
  #newest: Slot | null = null;

  add(slot: Slot): void {
    slot.older = this.#newest;
    if (this.#newest === null) this.oldest = slot;
    else this.#newest.newer = slot;
    this.#newest = slot;
    this.size += 1;
  }

  remove(slot: Slot): void {
    const { older, newer } = slot;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    slot.older = slot.newer = null;
    this.size -= 1;
  }
}
