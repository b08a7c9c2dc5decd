import type { Share } from '../../limits/shares.ts';
import type { OutgoingRequest } from './message-head.ts';
import type { PooledConnection } from './upstream-client.ts';
import type { Failing } from './waiting-requests.ts';

/** Connections of one owner: a caller that acts as one tenant. */
export interface OwnConnections<Handler extends Failing> {
  /** Share of the tenant. It is the same for all callers that act as the tenant. */
  readonly share: Share;
  /** Idle connections in the order of their last use, the latest one last. */
  readonly idle: Slot<Handler>[];
  /** Number of connections that are being made. */
  opening: number;
}

/** Methods of the pool that its slots call. */
interface SlotPool<Handler extends Failing> {
  send(request: OutgoingRequest, handler: Handler): void;
  freed(slot: Slot<Handler>): void;
  ended(slot: Slot<Handler>): void;
}

/**
 * Place of one connection in a pool, from the attempt to make the connection until the connection ends. The owner of
 * the place does not change.
 */
export class Slot<Handler extends Failing> {
  readonly own: OwnConnections<Handler>;
  /** `null` while the connection is being made. */
  connection: PooledConnection<Handler> | null = null;
  giveUp: (() => void) | null = null;
  isOpening = true;
  isIdle = false;
  idleSinceMs = 0;
  /** The idle slots next to this one; only {@link IdleOrder} writes these two members. */
  older: Slot<Handler> | null = null;
  newer: Slot<Handler> | null = null;
  readonly #pool: SlotPool<Handler>;

  constructor(own: OwnConnections<Handler>, pool: SlotPool<Handler>) {
    this.own = own;
    this.#pool = pool;
  }

  free(): void {
    this.#pool.freed(this);
  }

  gone(): void {
    this.#pool.ended(this);
  }

  giveBack(request: OutgoingRequest, handler: Handler): void {
    // The upstream has probably ended the owner's other idle connections as well, because each was idle for longer.
    for (const { connection } of [...this.own.idle]) connection?.close();
    this.#pool.send(request, handler);
  }
}

/** Idle connections of all tenants, in the order in which they became idle. */
export class IdleOrder<Handler extends Failing> {
  size = 0;
  oldest: Slot<Handler> | null = null;
  #newest: Slot<Handler> | null = null;

  add(slot: Slot<Handler>): void {
    slot.older = this.#newest;
    if (this.#newest === null) this.oldest = slot;
    else this.#newest.newer = slot;
    this.#newest = slot;
    this.size += 1;
  }

  remove(slot: Slot<Handler>): void {
    const { older, newer } = slot;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    slot.older = slot.newer = null;
    this.size -= 1;
  }
}
