import type { AccountId, KeyId } from '../domain/ids.ts';
import type { MethodKind } from '../domain/acting-decision.ts';
import type { KeptUsage } from '../domain/usage-kept.ts';
import type { UsageCounts, UsageGranularity, UsageGroup, UsagePeriod, UsageRow } from '../domain/usage.ts';
import type { Page } from './tenant-store.ts';

/**
 * Kind of a counted request. `write-by-default` is a write with a parent's key but without the acting header: it
 * operated on the parent itself.
 */
export type CountedKind = MethodKind | 'write-by-default';

/** A counted request: its account, key and hour. */
export interface CountedRequest {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Start of the hour in which the request was handed to the upstream, milliseconds since 1970. */
  readonly hourMs: number;
}

/** Counts requests. Its methods neither wait nor fail. */
export interface UsageSink {
  /**
   * Counts a request in the present hour. Call it right before the request is handed to its upstream, and
   * {@link commit} before the first byte is sent.
   */
  count(accountId: AccountId, keyId: KeyId, kind: CountedKind): CountedRequest;
  /** Undoes the count of a request that was not sent. */
  takeBack(counted: CountedRequest, kind: CountedKind): void;
  /** Saves all counts outside this process, so that they survive if the process crashes. */
  commit(): void;
  /**
   * Counts the outcome of a request in the hour in which the request was counted.
   * @param status status of the response; 499 if the client left before there was a response
   */
  noteOutcome(counted: CountedRequest, status: number): void;
  /** Adds body bytes that the request has transferred since the previous call to the counts of the present hour. */
  noteBytes(counted: CountedRequest, bytesIn: number, bytesOut: number): void;
  /** Notes a use of a key by a request that is not counted. */
  touch(accountId: AccountId, keyId: KeyId): void;
  /**
   * Calls `listener` at intervals and at the end of each hour. The listener reports the bytes of requests in flight
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
   * If set, the report contains only the counts of this account. A parent's counts do not include those of its
   * sub-accounts.
   */
  readonly account?: AccountId;
  readonly limit: number;
  /** {@link UsageReportRow.position} of the last row of the previous page. */
  readonly after?: string;
}

/**
 * A row of a report. `accountId` is the account that requests operated on, or its parent if rows are grouped by parent.
 * `keyId` is set only if rows are grouped by key. `periodStartMs` is the start of the hour, day, month or whole period
 * that the row covers, in milliseconds since 1970.
 */
export interface UsageReportRow extends UsageCounts {
  readonly accountId: AccountId;
  /** Parent of the account, or the account itself if it is a parent. */
  readonly parentId: AccountId;
  readonly externalId: string | null;
  readonly name: string;
  readonly keyId: KeyId | null;
  readonly periodStartMs: number;
  /** Opaque text that makes the next page begin after this row; see {@link UsageQuery.after}. */
  readonly position: string;
}

/**
 * The store can never add these counts, because it cannot hold one of their values. Repeating the call does not help.
 */
export class UnusableUsage extends Error {
  override readonly name = 'UnusableUsage';
}

/** Which hourly counts {@link UsageStore.pruneHours} deletes. */
export interface PrunedHours {
  /**
   * Present time by the clock of this process, milliseconds since 1970. Usage is deleted only if the store's clock
   * agrees.
   */
  readonly nowMs: number;
  /** Number of days for which hourly counts are kept. */
  readonly days: number;
  /** `next` of the previous call; `null` for the first call. */
  readonly after: AccountId | null;
  /** Maximum number of rows to delete. */
  readonly most: number;
}

/** Which daily counts {@link UsageStore.pruneDays} deletes. */
export interface PrunedDays {
  /** As in {@link PrunedHours}. */
  readonly nowMs: number;
  /** Number of months for which daily counts are kept. Only whole months are deleted. */
  readonly months: number;
  /** Maximum number of rows to delete. */
  readonly most: number;
}

/** Consecutive rows of a journal. The rows of a journal are numbered and added in order. */
export interface UsageBatch {
  /** Unique name of the journal. */
  readonly journal: string;
  /** Number of the first row. */
  readonly from: number;
  /** Number of the last row plus 1. */
  readonly to: number;
  readonly rows: readonly UsageRow[];
  /**
   * Time before which the journal has no more counts to add after this batch, milliseconds since 1970; `Infinity` at
   * the end of the journal, `null` if unknown.
   */
  readonly throughMs: number | null;
  /**
   * Name of the machine or pod of the journal's process. It is sent only with a batch without rows, by which the
   * process announces itself.
   */
  readonly host?: string;
}

/** Writes of a parent without the acting header. */
export interface WritesByDefault {
  /** Time from which such writes are counted, milliseconds since 1970. Earlier writes are unknown. */
  readonly countedFromMs: number;
  /** Keys that made such writes, latest first. */
  readonly keys: readonly {
    readonly keyId: KeyId;
    readonly name: string;
    readonly requests: number;
    readonly lastAtMs: number;
  }[];
}

export interface UsageCompleteness {
  /**
   * Time before which the store has all counts, except those of replicas that are given up; milliseconds since 1970.
   */
  readonly throughMs: number;
  /** Whether counts of the period may be lost for good, because a replica that may have had some is given up. */
  readonly incomplete: boolean;
  /** Silent replicas whose counts a report on the period may lack: the host of each, or its id if it has no host. */
  readonly silent: readonly string[];
}

/**
 * A replica that has sent nothing for a minute (or for `lostAfterMs`, if that is shorter) and has not announced its
 * end. The store may lack counts of it.
 */
export interface SilentReplica {
  /** Id of the replica's journal. */
  readonly id: string;
  /** Name of the replica's machine or pod; `null` if unknown. */
  readonly host: string | null;
  readonly lastSeen: Date;
  /** Time before which the store has all counts of the replica. */
  readonly through: Date;
  /** Whether reports no longer wait for the counts of the replica. */
  readonly givenUp: boolean;
}

/** Usage in the store. */
export interface UsageStore {
  /** Returns the id of the store, and its present time in milliseconds since 1970. */
  about(): Promise<{ readonly id: string; readonly nowMs: number }>;
  /**
   * Adds counts in one transaction, and notes the last use of each key. A row without counts only notes the use. Rows
   * that the store already has change nothing.
   *
   * @returns `rowsIn`: the store has every row of the journal with a lower number. `nowMs`: present time of the store
   * @throws UnusableUsage if the store cannot hold one of the values; none of the counts was added then
   */
  add(batch: UsageBatch): Promise<{ readonly rowsIn: number; readonly nowMs: number }>;
  /**
   * Returns one page of a report on a parent and its sub-accounts, or on all accounts.
   * @param parent parent that the call is made for: parents take turns at the store; `null` for operators
   */
  report(parent: AccountId | null, query: UsageQuery): Promise<Page<UsageReportRow>>;
  /**
   * Returns the parent of an account, or the account itself if it is a parent; `null` if there is no such account.
   * @param parent parent that the call is made for: parents take turns at the store
   */
  parentOf(account: AccountId, parent?: AccountId): Promise<AccountId | null>;
  /**
   * Adds up hourly counts of days that are over into daily counts, for some accounts per call. Reports stay correct
   * meanwhile.
   * @returns whether there is more to add up; `false` also while another replica does the work
   */
  rollUp(): Promise<boolean>;
  /**
   * Returns the times from which usage is still kept. Call it after reading rows: the rows are complete if their whole
   * period is still kept.
   * @param parent parent that the call is made for: parents take turns at the store
   */
  kept(parent?: AccountId): Promise<KeptUsage>;
  /**
   * Deletes hourly counts that are too old; the daily counts stay. Does nothing while another replica prunes.
   * @returns `next`: parent after which the next call continues; `null` at the end
   */
  pruneHours(portion: PrunedHours): Promise<{ readonly deleted: number; readonly next: AccountId | null }>;
  /** Deletes daily counts that are too old, and resolves to their number. Does nothing while another replica prunes. */
  pruneDays(portion: PrunedDays): Promise<number>;
  /**
   * Returns the keys of a parent that made writes without the acting header.
   * @param sinceMs start of a day in UTC, at most eight days ago, because earlier writes are not kept
   */
  writesByDefault(parent: AccountId, sinceMs: number): Promise<WritesByDefault>;
  /**
   * Returns how complete reports on a period are.
   * @param lostAfterMs milliseconds for which a report waits for a silent replica
   * @param parent parent that the call is made for: parents take turns at the store
   */
  completeness(period: UsagePeriod, lostAfterMs: number, parent?: AccountId): Promise<UsageCompleteness>;
  /** Returns the silent replicas. @param lostAfterMs as for {@link completeness} */
  silent(lostAfterMs: number): Promise<readonly SilentReplica[]>;
  /**
   * Makes reports stop waiting for the counts of silent replicas, until such a replica sends something again.
   *
   * @param replica id or host of the replicas
   * @returns number of silent replicas with that id or host
   */
  forget(replica: string): Promise<number>;
}
