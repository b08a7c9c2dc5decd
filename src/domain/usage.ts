import type { AccountId, KeyId } from './ids.ts';

/** Counts of proxied requests; management calls are not usage. `bytesIn` and `bytesOut` count only bodies. */
export interface UsageCounts {
  readonly requests: number;
  readonly reads: number;
  readonly writes: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Counts of the requests of one hour that operated on one account with one key. */
export interface UsageRow extends UsageCounts {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Start of the hour, milliseconds since 1970, UTC. */
  readonly hourMs: number;
  /** Last use of the key in that hour, milliseconds since 1970. */
  readonly lastUsedMs: number;
  /**
   * Number of writes with a parent's key and without the acting header. Such writes are rejected once the parent has an
   * active sub-account.
   */
  readonly writesByDefault: number;
  /** Time of the last write that `writesByDefault` counts, milliseconds since 1970; 0 if there is none. */
  readonly lastWriteByDefaultMs: number;
}

export type UsageGranularity = 'hour' | 'day' | 'month' | 'total';
/** Grouping of a report; `account` is a parent with all its sub-accounts. */
export type UsageGroup = 'account' | 'sub_account' | 'api_key';

/** `from` inclusive, `to` exclusive, both on the hour, milliseconds since 1970. */
export interface UsagePeriod {
  readonly fromMs: number;
  readonly toMs: number;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** Maximum length of the period of a report, in days. */
export const usagePeriodMaxDays = 366;
export const usagePeriodMaxMs = usagePeriodMaxDays * dayMs;
