import type { Event, EventType } from '../domain/event.ts';
import type { AccountId, EventId } from '../domain/ids.ts';
import type { Page, PageQuery } from './tenant-store.ts';

/** Filter for events; absent members do not filter. */
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
   * Present time by the clock of this process, milliseconds since 1970. Events are deleted only if the store's clock
   * agrees.
   */
  readonly nowMs: number;
  /** Number of days for which events are kept. */
  readonly days: number;
  /** Maximum number of events to delete. */
  readonly most: number;
}

/**
 * Events, which the store writes by itself in the transaction of each change. Methods throw `ProblemError`
 * `unavailable` if the store cannot be reached.
 */
export interface EventStore {
  /**
   * Lists one page, newest first. Ids of one parent's events ascend in the order of commits, so a reader that has seen
   * an id has missed no event before it. Across parents this holds only for events so old that no transaction from
   * their time can still be open.
   *
   * @param tenant parent that the call is made for: parents take turns at the store. Absent for operators
   */
  list(filter: EventFilter, page: PageQuery, tenant?: AccountId): Promise<Page<Event>>;
  /**
   * Returns an event; `null` if there is no such event of this parent.
   *
   * @param account parent that asks; absent for operators
   */
  get(id: EventId, account?: AccountId): Promise<Event | null>;
  /** Deletes the oldest events and resolves to their number. Does nothing while another replica prunes. */
  prune(portion: PrunedEvents): Promise<number>;
}
