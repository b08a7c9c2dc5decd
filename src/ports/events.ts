import type { Event, EventType } from '../domain/event.ts';
import type { AccountId, EventId } from '../domain/ids.ts';
import type { Page, PageQuery } from './tenant-store.ts';

/** Which events to list; a member that is absent does not filter. */
export interface EventFilter {
  readonly type?: EventType;
  /** Of one parent and its sub-accounts. */
  readonly account?: AccountId;
  readonly subAccount?: AccountId;
  /** Milliseconds since 1970, inclusive. */
  readonly fromMs?: number;
  /** Milliseconds since 1970, exclusive. */
  readonly toMs?: number;
}

/** What {@link EventStore.prune} deletes. */
export interface PrunedEvents {
  /** Milliseconds since 1970, by the clock of this process: older events go, if they are older by the store's clock too. */
  readonly nowMs: number;
  /** For how long events stay. */
  readonly days: number;
  /** Events at most. */
  readonly most: number;
}

/**
 * Events, which the store writes by itself, each in the transaction of its change. Methods throw `ProblemError` `unavailable` where the
 * store cannot be reached.
 */
export interface EventStore {
  /**
   * One page, newest first. Of one parent's events those that are committed later have greater ids, so a reader that has come to
   * an id has missed nothing before it. Over all parents that holds only once a change can no longer be under way.
   *
   * @param tenant the parent that asks, since tenants take turns; absent where an operator does
   */
  list(filter: EventFilter, page: PageQuery, tenant?: AccountId): Promise<Page<Event>>;
  /** `null` where there is none, or none of this parent. @param account the parent that asks; absent where an operator does */
  get(id: EventId, account?: AccountId): Promise<Event | null>;
  /** Deletes the oldest, and resolves to how many. Nothing happens while another replica does it. */
  prune(portion: PrunedEvents): Promise<number>;
}
