import type { Event, EventType } from '../domain/event.ts';
import type { AccountId, EventId } from '../domain/ids.ts';
import type { Page, PageQuery } from './tenant-store.ts';

/** Filter for events; absent members match everything. */
export interface EventFilter {
  readonly type?: EventType;
  /** Events of one parent and its sub-accounts. */
  readonly account?: AccountId;
  readonly subAccount?: AccountId;
  /** Milliseconds since 1970, inclusive. */
  readonly fromMs?: number;
  /** Milliseconds since 1970, exclusive. */
  readonly toMs?: number;
}

/** Which events {@link EventStore.prune} deletes. */
export interface PrunedEvents {
  /**
   * Time by this process's clock, milliseconds since 1970. Events are deleted only if both this clock and the store's
   * clock say that they are too old.
   */
  readonly nowMs: number;
  /** How many days events are kept. */
  readonly days: number;
  /** Maximum number of events to delete. */
  readonly most: number;
}

/**
 * Reads events. The store itself writes each event, in the transaction of the change. Methods throw `ProblemError`
 * `unavailable` if the store cannot be reached.
 */
export interface EventStore {
  /**
   * Lists one page, newest first. The ids of one parent's events ascend in commit order, so a client that has seen an
   * id has not missed any earlier event of that parent. Across parents, ids are not in commit order: a new event may
   * appear below events that the client has already seen.
   *
   * @param tenant the call waits for the store in this parent's queue; absent for operators, who do not queue
   */
  list(filter: EventFilter, page: PageQuery, tenant?: AccountId): Promise<Page<Event>>;
  /**
   * Returns an event; `null` if `account` has no such event.
   *
   * @param account the parent that asks; absent for operators
   */
  get(id: EventId, account?: AccountId): Promise<Event | null>;
  /**
   * Deletes the oldest events, and API keys that were revoked or expired as long ago. Resolves to how many events were
   * deleted, and whether there may be more to delete. Does nothing while another replica is pruning.
   */
  prune(portion: PrunedEvents): Promise<{ readonly deleted: number; readonly more: boolean }>;
}
