import type { AccountId, KeyId } from '../domain/ids.ts';
import type { MethodKind } from '../domain/acting-decision.ts';
import type { KeptUsage } from '../domain/usage-kept.ts';
import type { UsageCounts, UsageGranularity, UsageGroup, UsagePeriod, UsageRow } from '../domain/usage.ts';
import type { Page } from './tenant-store.ts';

/** What a request is counted as. `write-by-default`: a write of a parent without the acting header, so that it acted as itself. */
export type CountedKind = MethodKind | 'write-by-default';

/** A request that was counted: under whom, and in which hour. */
export interface CountedRequest {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Start of the hour of the hand-over, milliseconds since 1970. */
  readonly hourMs: number;
}

/** Counts; never waits and never fails. */
export interface UsageSink {
  /**
   * Counts a request that is about to be handed to its upstream, in the present hour. {@link commit} comes between this and
   * its first byte.
   */
  count(accountId: AccountId, keyId: KeyId, kind: CountedKind): CountedRequest;
  /** Takes a request back that was not sent after all. */
  takeBack(counted: CountedRequest, kind: CountedKind): void;
  /** Makes what was counted survive this process. */
  commit(): void;
  /** Notes how a request ended, in the hour of its hand-over. @param status of the response; 499 where the client left before */
  noteOutcome(counted: CountedRequest, status: number): void;
  /** Notes bytes of bodies that have passed since they were last noted, in the present hour. */
  noteBytes(counted: CountedRequest, bytesIn: number, bytesOut: number): void;
  /** Notes that a key was used for something that is not counted. */
  touch(accountId: AccountId, keyId: KeyId): void;
  /** Calls `listener` every now and then, and at the end of each hour, to note the bytes of requests under way. Returns how to stop. */
  onCollect(listener: () => void): () => void;
}

/** Which report to make. */
export interface UsageQuery {
  readonly period: UsagePeriod;
  readonly granularity: UsageGranularity;
  readonly groupBy: UsageGroup;
  /** Only what was counted for this account itself: a parent or a sub-account. */
  readonly account?: AccountId;
  readonly limit: number;
  /** Opaque position after the last row of the page before. */
  readonly after?: string;
}

/**
 * One line of a report. `keyId` only where grouped by key; `periodStartMs` is the start of the bucket. `accountId` is the
 * account that requests operated on, or its parent where grouped by that.
 */
export interface UsageReportRow extends UsageCounts {
  readonly accountId: AccountId;
  /** The parent; the account itself where it is one. */
  readonly parentId: AccountId;
  readonly externalId: string | null;
  readonly name: string;
  readonly keyId: KeyId | null;
  readonly periodStartMs: number;
  /** Position of this row, for {@link UsageQuery.after}. */
  readonly position: string;
}

/** The store can never add these counts: a value among them is none it can hold. Trying again does not help. */
export class UnusableUsage extends Error {
  override readonly name = 'UnusableUsage';
}

/** Which hours to delete. */
export interface PrunedHours {
  /** Milliseconds since 1970, by the clock of this process: what is old goes if it is old by the store's clock, too. */
  readonly nowMs: number;
  /** For how many days hours stay. */
  readonly days: number;
  /** The parent to go on after, from the portion before; `null` for the first. */
  readonly after: AccountId | null;
  /** Rows at most. */
  readonly most: number;
}

/** Which days to delete. */
export interface PrunedDays {
  /** As in {@link PrunedHours}. */
  readonly nowMs: number;
  /** For how many months days stay; only whole months go. */
  readonly months: number;
  /** Rows at most. */
  readonly most: number;
}

/** Which days to compare with their hours. */
export interface UsageComparison {
  /** Of this parent and its sub-accounts; `null` for all accounts. */
  readonly parent: AccountId | null;
  /** Beginning of the first day, UTC, milliseconds since 1970. */
  readonly firstMs: number;
  /** End of the last day. */
  readonly endMs: number;
  /** The account that the call before ended with; `null` for the first call. */
  readonly after: AccountId | null;
  /** Set days that differ to the sums of their hours. */
  readonly mend: boolean;
}

/** A day that is not the sum of its hours. */
export interface UsageDifference {
  readonly accountId: AccountId;
  readonly parentId: AccountId;
  readonly keyId: KeyId;
  /** Such as `2026-01-31`, UTC. */
  readonly day: string;
  /** `null` where there are no hours. */
  readonly byHours: UsageCounts | null;
  /** `null` where there is no day. */
  readonly byDays: UsageCounts | null;
}

/** What one call compared. */
export interface ComparedUsage {
  readonly accounts: number;
  readonly differences: readonly UsageDifference[];
  /** Where to go on; `null` at the end. */
  readonly next: AccountId | null;
}

/** Some rows of a journal, in their order. The rows of a journal are numbered, and added one after the other. */
export interface UsageBatch {
  /** Name of the journal, never used by another one. */
  readonly journal: string;
  /** Position of the first row. */
  readonly from: number;
  /** Position behind the last row. */
  readonly to: number;
  readonly rows: readonly UsageRow[];
  /** Once these are in, the journal has nothing from before this left to add; `Infinity` at its end, `null` where this says nothing of it. */
  readonly throughMs: number | null;
}

/** Writes of a parent without the acting header. */
export interface WritesByDefault {
  /** Since when they are counted, milliseconds since 1970: there is no telling about the time before. */
  readonly countedFromMs: number;
  /** A line for each key that made any, the latest first. */
  readonly keys: readonly {
    readonly keyId: KeyId;
    readonly name: string;
    readonly requests: number;
    readonly lastAtMs: number;
  }[];
}

export interface UsageCompleteness {
  /** Everything before this moment is in the store, of every replica that is not lost; milliseconds since 1970. */
  readonly throughMs: number;
  /** A replica has been silent for too long to be waited for, and may have taken counts of the period with it. */
  readonly incomplete: boolean;
}

/** Usage in the store. */
export interface UsageStore {
  /** Names the store, and says what time it is there, milliseconds since 1970. */
  about(): Promise<{ readonly id: string; readonly nowMs: number }>;
  /**
   * Adds counts to what the store has, in one transaction, and notes when each key was last used. A row without counts
   * only notes that. Where one of these rows is in already, nothing changes.
   *
   * @returns up to which position the rows of the journal are in now, and what time it is in the store
   * @throws UnusableUsage where the counts are rejected for what they are; then none of them was added
   */
  add(batch: UsageBatch): Promise<{ readonly rowsIn: number; readonly nowMs: number }>;
  /** Rows of a parent and everything under it, or of all accounts. @param parent who asks: parents take turns */
  report(parent: AccountId | null, query: UsageQuery): Promise<Page<UsageReportRow>>;
  /**
   * The parent of an account, or itself where it is one; `null` where there is no such account.
   * @param parent who asks: parents take turns
   */
  parentOf(account: AccountId, parent?: AccountId): Promise<AccountId | null>;
  /**
   * Adds up days of hours that were stored before there were days, a portion of them. Reports are right meanwhile.
   * @returns whether there are more; false, too, while another replica does it
   */
  rollUp(): Promise<boolean>;
  /**
   * What was deleted so far. What is read before this, and not said to be deleted here, was there.
   * @param parent who asks: parents take turns
   */
  kept(parent?: AccountId): Promise<KeptUsage>;
  /** Deletes hours past their retention; their days stay. Nothing happens while another replica does it. */
  pruneHours(portion: PrunedHours): Promise<{ readonly deleted: number; readonly next: AccountId | null }>;
  /** Deletes days past their retention, and resolves to how many. Nothing happens while another replica does it. */
  pruneDays(portion: PrunedDays): Promise<number>;
  /**
   * Compares days with the sums of their hours, some accounts at a time.
   * @returns `null` while days are still being added up ({@link rollUp})
   */
  reconcile(comparison: UsageComparison): Promise<ComparedUsage | null>;
  /**
   * Which keys of a parent wrote without the acting header.
   * @param sinceMs beginning of a day, UTC, no more than eight days ago: no more is kept
   */
  writesByDefault(parent: AccountId, sinceMs: number): Promise<WritesByDefault>;
  /**
   * How complete a report of a period is.
   * @param lostAfterMs for how long a silent replica is waited for
   * @param parent who asks: parents take turns
   */
  completeness(period: UsagePeriod, lostAfterMs: number, parent?: AccountId): Promise<UsageCompleteness>;
}
