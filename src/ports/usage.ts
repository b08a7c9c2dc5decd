import type { AccountId, KeyId } from '../domain/ids.ts';
import type { MethodKind } from '../domain/acting-decision.ts';
import type { KeptUsage } from '../domain/usage-kept.ts';
import type { UsageCounts, UsageGranularity, UsageGroup, UsagePeriod, UsageRow } from '../domain/usage.ts';
import type { Page } from './tenant-store.ts';

/** Kind of a counted request. `write-by-default` is a parent's write without the acting header; it acted as the parent itself. */
export type CountedKind = MethodKind | 'write-by-default';

/** A counted request: its account, key and hour. */
export interface CountedRequest {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Start of the hour in which the request was handed to the upstream, milliseconds since 1970. */
  readonly hourMs: number;
}

/** Counts requests; never waits and never fails. */
export interface UsageSink {
  /**
   * Counts a request in the present hour, right before it is handed to its upstream. {@link commit} follows before the first
   * byte is sent.
   */
  count(accountId: AccountId, keyId: KeyId, kind: CountedKind): CountedRequest;
  /** Undoes the count of a request that was not sent. */
  takeBack(counted: CountedRequest, kind: CountedKind): void;
  /** Makes the counts survive this process. */
  commit(): void;
  /** Notes the end of a request in the hour of its count. @param status status of the response; 499 if the client left before */
  noteOutcome(counted: CountedRequest, status: number): void;
  /** Adds the bytes of bodies that were transferred since the previous call to the counts of the present hour. */
  noteBytes(counted: CountedRequest, bytesIn: number, bytesOut: number): void;
  /** Notes a use of a key by a request that is not counted. */
  touch(accountId: AccountId, keyId: KeyId): void;
  /**
   * Calls `listener` at intervals and at the end of each hour, to note bytes of requests in flight. Returns a function that
   * removes the listener.
   */
  onCollect(listener: () => void): () => void;
}

/** Query for a report. */
export interface UsageQuery {
  readonly period: UsagePeriod;
  readonly granularity: UsageGranularity;
  readonly groupBy: UsageGroup;
  /** Limits the report to counts of this account itself, a parent or a sub-account. */
  readonly account?: AccountId;
  readonly limit: number;
  /** Opaque position of the last row of the previous page. */
  readonly after?: string;
}

/**
 * A row of a report. `keyId` is set if rows are grouped by key; `periodStartMs` is the start of the bucket. `accountId` is the
 * account that requests operated on, or its parent if rows are grouped by that.
 */
export interface UsageReportRow extends UsageCounts {
  readonly accountId: AccountId;
  /** Parent of the account, or the account itself if it is a parent. */
  readonly parentId: AccountId;
  readonly externalId: string | null;
  readonly name: string;
  readonly keyId: KeyId | null;
  readonly periodStartMs: number;
  /** Position of this row, for {@link UsageQuery.after}. */
  readonly position: string;
}

/** The store can never add these counts, because it cannot hold one of their values. Repeating the call does not help. */
export class UnusableUsage extends Error {
  override readonly name = 'UnusableUsage';
}

/** Hours to delete. */
export interface PrunedHours {
  /** Present time by the clock of this process, milliseconds since 1970. Usage is deleted only if the store's clock agrees. */
  readonly nowMs: number;
  /** Days for which hours are kept. */
  readonly days: number;
  /** `next` of the previous portion; `null` for the first. */
  readonly after: AccountId | null;
  /** Maximum number of rows to delete. */
  readonly most: number;
}

/** Days to delete. */
export interface PrunedDays {
  /** As in {@link PrunedHours}. */
  readonly nowMs: number;
  /** Months for which days are kept; only whole months are deleted. */
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
  /** Number after that of the last row. */
  readonly to: number;
  readonly rows: readonly UsageRow[];
  /**
   * After this batch, the journal has no counts from before this time left to add; `Infinity` at the end of the journal, `null`
   * if unknown.
   */
  readonly throughMs: number | null;
  /** Name of the machine or pod of the journal's own process; absent if another process replays the journal. */
  readonly host?: string;
}

/** Writes of a parent without the acting header. */
export interface WritesByDefault {
  /** Start of counting, milliseconds since 1970. Earlier writes are unknown. */
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
  /** Time before which the store has all counts of every replica that is not lost; milliseconds since 1970. */
  readonly throughMs: number;
  /** Whether a replica has been silent for too long, so that counts of the period may be lost with it. */
  readonly incomplete: boolean;
  /** Hosts, or ids without a host, of silent replicas whose counts a report on the period may lack. */
  readonly silent: readonly string[];
}

/** A replica that has announced neither its end nor anything else for a minute, so that counts of it may be missing. */
export interface SilentReplica {
  /** Id of its journal. */
  readonly id: string;
  /** Name of its machine or pod, if known. */
  readonly host: string | null;
  readonly lastSeen: Date;
  /** The store has all of its counts from before this time. */
  readonly through: Date;
  /** Whether reports no longer wait for it. */
  readonly givenUp: boolean;
}

/** Usage in the store. */
export interface UsageStore {
  /** Id of the store, and its present time, milliseconds since 1970. */
  about(): Promise<{ readonly id: string; readonly nowMs: number }>;
  /**
   * Adds counts in one transaction, and notes the last use of each key. A row without counts only notes the use. Rows that
   * the store already has change nothing.
   *
   * @returns position up to which the store has the rows of the journal, and the present time of the store
   * @throws UnusableUsage if a value of the counts is rejected; none of them was added then
   */
  add(batch: UsageBatch): Promise<{ readonly rowsIn: number; readonly nowMs: number }>;
  /** Rows of a parent and its sub-accounts, or of all accounts. @param parent parent in whose turn the call runs */
  report(parent: AccountId | null, query: UsageQuery): Promise<Page<UsageReportRow>>;
  /**
   * Parent of an account, or the account itself if it is a parent; `null` if there is no such account.
   * @param parent parent in whose turn the call runs
   */
  parentOf(account: AccountId, parent?: AccountId): Promise<AccountId | null>;
  /**
   * Adds up a portion of the hours of days that are over into days. Reports stay right meanwhile.
   * @returns whether there are more; `false` also while another replica does it
   */
  rollUp(): Promise<boolean>;
  /**
   * Start of the usage that is still kept. Rows read before this call were complete if their period is still kept.
   * @param parent parent in whose turn the call runs
   */
  kept(parent?: AccountId): Promise<KeptUsage>;
  /** Deletes hours past their retention; their days stay. Does nothing while another replica prunes. */
  pruneHours(portion: PrunedHours): Promise<{ readonly deleted: number; readonly next: AccountId | null }>;
  /** Deletes days past their retention and resolves to their number. Does nothing while another replica prunes. */
  pruneDays(portion: PrunedDays): Promise<number>;
  /**
   * Keys of a parent that wrote without the acting header.
   * @param sinceMs start of a day, UTC, at most eight days ago: earlier writes are not kept
   */
  writesByDefault(parent: AccountId, sinceMs: number): Promise<WritesByDefault>;
  /**
   * Completeness of reports on a period.
   * @param lostAfterMs milliseconds for which a report waits for a silent replica
   * @param parent parent in whose turn the call runs
   */
  completeness(period: UsagePeriod, lostAfterMs: number, parent?: AccountId): Promise<UsageCompleteness>;
  /** The silent replicas. @param lostAfterMs as for {@link completeness} */
  silent(lostAfterMs: number): Promise<readonly SilentReplica[]>;
  /**
   * Gives up the counts of silent replicas, until one of them is heard of again.
   *
   * @param replica id or host
   * @returns number of silent replicas with that name
   */
  forget(replica: string): Promise<number>;
}
