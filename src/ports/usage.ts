import type { AccountId, KeyId } from '../domain/ids.ts';
import type { MethodKind } from '../domain/acting-decision.ts';
import type { KeptUsage } from '../domain/usage-kept.ts';
import type {
  UsageCounts,
  UsageGranularity,
  UsageGroup,
  UsagePeriod,
  UsageRow,
  UsedBy,
} from '../domain/usage.ts';
import type { Seq } from './facts.ts';
import type { Page } from './tenant-store.ts';

/**
 * Kind of a counted request. `write-by-default` is a write with a parent's key but without the acting header, so it
 * operated on the parent itself.
 */
export type CountedKind = MethodKind | 'write-by-default';

/** A counted request: its account, key and hour. */
export interface CountedRequest extends UsedBy {
  /** Start of the hour in which the request was handed to the upstream, milliseconds since 1970. */
  readonly hourMs: number;
}

/** Counts requests. Its methods neither wait nor fail. */
export interface UsageSink {
  /**
   * Counts a request in the current hour. Call it right before the request is handed to its upstream. Then call
   * {@link commit} before the first byte is sent.
   */
  count(by: UsedBy, kind: CountedKind): CountedRequest;
  /** Undoes the count of a request that was not sent. */
  takeBack(counted: CountedRequest, kind: CountedKind): void;
  /** Saves all counts outside this process, so that they survive a crash. */
  commit(): void;
  /**
   * Counts a request's outcome in the hour in which the request was counted.
   * @param status status of the response; 499 if the client left before there was a response
   */
  noteOutcome(counted: CountedRequest, status: number): void;
  /**
   * Adds body bytes to the current hour's counts: the bytes that the request has transferred since the previous call.
   */
  noteBytes(counted: CountedRequest, bytesIn: number, bytesOut: number): void;
  /**
   * Counts the units that a response says its request was worth, in the hour in which the request was counted. Then call
   * {@link commit} before the response is passed to the client.
   * @param units 0 to 2^53 - 1; the sum of a row saturates
   */
  noteUnits(counted: CountedRequest, units: number): void;
  /** Reports that a response states units that cannot be read; they count as 0. @param route prefix of the route */
  noteMalformedUnits(route: string): void;
  /** Notes that a key was used by a request that is not counted. */
  touch(by: UsedBy): void;
  /**
   * Calls `listener` periodically and at the end of each hour. The listener reports the bytes of requests in flight
   * with {@link noteBytes}. Returns a function that removes the listener.
   */
  onCollect(listener: () => void): () => void;
}

/** Query for a report. */
export interface UsageQuery {
  readonly period: UsagePeriod;
  readonly granularity: UsageGranularity;
  readonly groupBy: UsageGroup;
  /**
   * If set, the report contains only this account's counts. A parent's counts do not include those of its sub-accounts.
   */
  readonly account?: AccountId;
  readonly limit: number;
  /** {@link UsageReportRow.position} of the last row of the previous page. */
  readonly after?: string;
}

/**
 * A row of a report. `accountId` is the account that requests operated on, or its parent if rows are grouped by parent.
 * `keyId` is `null` unless rows are grouped by key. Keys without a row of their own share the row of the nil UUID; see
 * {@link UsageBatch.keysPerAccountHour}. `periodStartMs` is the start of the hour, day, month or whole period that the
 * row covers, in milliseconds since 1970.
 */
export interface UsageReportRow extends UsageCounts {
  readonly accountId: AccountId;
  /** Parent of the account, or the account itself if it is a parent. */
  readonly parentId: AccountId;
  readonly externalId: string | null;
  /** `null` if the account has been deleted; so is `externalId`. */
  readonly name: string | null;
  readonly keyId: KeyId | null;
  readonly periodStartMs: number;
  /** Opaque string that makes the next page begin after this row; see {@link UsageQuery.after}. */
  readonly position: string;
}

/**
 * Thrown if the store can never add some counts, because it cannot hold one of their values. Retrying does not help.
 */
export class UnusableUsage extends Error {
  override readonly name = 'UnusableUsage';
}

/** Which hourly counts {@link UsageStore.pruneHours} deletes. */
export interface PrunedHours {
  /**
   * Time by this process's clock, milliseconds since 1970. Counts are deleted only if both this clock and the store's
   * clock say that they are too old.
   */
  readonly nowMs: number;
  /** How many days hourly counts are kept. */
  readonly days: number;
  /** `next` of the previous call; `null` for the first call. */
  readonly after: AccountId | null;
  /** Maximum number of rows to delete. */
  readonly most: number;
}

/** Which daily counts {@link UsageStore.pruneDays} deletes. */
export interface PrunedDays {
  /** Current time by this process's clock, milliseconds since 1970; see {@link PrunedHours.nowMs}. */
  readonly nowMs: number;
  /** How many months daily counts are kept. Only whole months are deleted. */
  readonly months: number;
  /** Maximum number of rows to delete. */
  readonly most: number;
}

/** Consecutive rows of a journal. A journal's rows are numbered and added in order. */
export interface UsageBatch {
  /** Unique name of the journal. */
  readonly journal: string;
  /** The store had all rows below this number, as far as the sender knows; 0 by default. */
  readonly after?: number;
  /** Number of the first row. */
  readonly from: number;
  /** One more than the number of the last row. */
  readonly to: number;
  readonly rows: readonly UsageRow[];
  /** Maximum number of keys with a row of their own per account and hour. The other keys share a row without a key. */
  readonly keysPerAccountHour: number;
  /**
   * Once this batch is added, the store has all of the journal's counts from before this time. Milliseconds since 1970;
   * `Infinity` at the end of the journal, `null` if unknown.
   */
  readonly throughMs: number | null;
  /**
   * Log position through which the sender had read when the rows' last request was counted; `null` if unknown. The rows
   * count for quotas that were given later, too: the sender did not know of them.
   */
  readonly readThrough?: Seq | null;
  /**
   * Name of the machine or pod that runs the journal's process. Sent only when the process announces itself, in a batch
   * without rows.
   */
  readonly host?: string;
}

/** Writes made by a parent without the acting header. */
export interface WritesByDefault {
  /**
   * Time from which writes without the acting header are counted, milliseconds since 1970. Earlier writes are unknown.
   */
  readonly countedFromMs: number;
  /** Keys that made writes without the acting header; the key with the most recent write comes first. */
  readonly keys: readonly {
    readonly keyId: KeyId;
    readonly name: string;
    readonly requests: number;
    readonly lastAtMs: number;
  }[];
}

export interface UsageCompleteness {
  /**
   * Time before which the store has all counts, except those of replicas that have been given up; milliseconds since
   * 1970.
   */
  readonly throughMs: number;
  /**
   * Whether counts of the period may be lost for good: a replica that may have had such counts was given up, so reports
   * no longer wait for them, or the database went back in time and lost counts that it had.
   */
  readonly incomplete: boolean;
  /**
   * Silent replicas whose counts may be missing from a report on the period: each one's host, or its id if the host is
   * unknown.
   */
  readonly silent: readonly string[];
}

/**
 * A replica that has sent nothing for a minute (or for `lostAfterMs`, if that is shorter) and has not announced that it
 * is shutting down. The store may lack some of its counts.
 */
export interface SilentReplica {
  /** Id of the replica's journal. */
  readonly id: string;
  /** Name of the replica's machine or pod; `null` if unknown. */
  readonly host: string | null;
  readonly lastSeen: Date;
  /** Time before which the store has all of the replica's counts. */
  readonly through: Date;
  /** Whether reports no longer wait for the replica's counts. */
  readonly givenUp: boolean;
}

/** Usage in the store. */
export interface UsageStore {
  /** Returns the store's id, and its current time in milliseconds since 1970. */
  about(): Promise<{ readonly id: string; readonly nowMs: number }>;
  /**
   * Adds counts in one transaction, and saves when each key was last used. A row without counts saves only the time of
   * use. Rows that the store already has are ignored.
   *
   * @returns `rowsIn`: number of the first row of the journal that the store lacks; `nowMs`: the store's current time
   * @throws UnusableUsage if the store cannot hold one of the values; no counts are added then
   */
  add(batch: UsageBatch): Promise<{ readonly rowsIn: number; readonly nowMs: number }>;
  /**
   * Returns one page of a report on a parent and its sub-accounts, or on all accounts.
   * @param parent the call waits for the store in this parent's queue; `null` for operators, who do not queue
   */
  report(parent: AccountId | null, query: UsageQuery): Promise<Page<UsageReportRow>>;
  /**
   * Returns the parent of an account, or the account itself if it is a parent; `null` if there is no such account.
   * @param parent the call waits for the store in this parent's queue
   */
  parentOf(account: AccountId, parent?: AccountId): Promise<AccountId | null>;
  /**
   * Rolls up hourly counts of past days into daily counts. Each call handles only some accounts. Reports stay correct
   * in the meantime.
   * @returns whether there is more to roll up; also `false` if another replica is already doing it
   */
  rollUp(): Promise<boolean>;
  /**
   * Returns how far back usage is still kept. Call it after reading rows, because rows may be deleted while they are
   * read. The rows are complete if their whole period is still kept.
   * @param parent the call waits for the store in this parent's queue
   */
  kept(parent?: AccountId): Promise<KeptUsage>;
  /**
   * Deletes hourly counts that are too old; the daily counts stay. Does nothing while another replica is pruning.
   * @returns `next`: parent after which the next call continues; `null` at the end
   */
  pruneHours(portion: PrunedHours): Promise<{ readonly deleted: number; readonly next: AccountId | null }>;
  /**
   * Deletes daily counts that are too old and resolves to how many there were. Does nothing while another replica is
   * pruning.
   */
  pruneDays(portion: PrunedDays): Promise<number>;
  /**
   * Returns the keys of a parent that made writes without the acting header.
   * @param sinceMs start of a UTC day, at most eight days ago, because earlier writes are not kept
   */
  writesByDefault(parent: AccountId, sinceMs: number): Promise<WritesByDefault>;
  /**
   * Returns how complete reports on a period are.
   * @param lostAfterMs how many milliseconds a report waits for a silent replica
   * @param parent the call waits for the store in this parent's queue
   */
  completeness(period: UsagePeriod, lostAfterMs: number, parent?: AccountId): Promise<UsageCompleteness>;
  /**
   * Returns the silent replicas.
   * @param lostAfterMs as for {@link completeness}
   */
  silent(lostAfterMs: number): Promise<readonly SilentReplica[]>;
  /**
   * Makes reports stop waiting for the counts of silent replicas. If one of these replicas sends something again,
   * reports wait for it again.
   *
   * @param replica either the id of one replica, or a host. A host stands for all silent replicas on that host
   * @returns number of silent replicas with that id or host
   */
  forget(replica: string): Promise<number>;
}
