import type { AccountId, KeyId } from './ids.ts';

/** Counts of proxied requests; management calls do not count as usage. `bytesIn` and `bytesOut` count bodies only. */
export interface UsageCounts {
  readonly requests: number;
  readonly reads: number;
  readonly writes: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Counts of the requests made for one account with one key in one hour. */
export interface UsageRow extends UsageCounts {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Start of the hour, milliseconds since 1970, UTC. */
  readonly hourMs: number;
  /** Last use of the key in that hour, milliseconds since 1970. */
  readonly lastUsedMs: number;
  /**
   * Number of writes made with a parent's key but without the acting header. Such writes are rejected once the parent
   * has an active sub-account.
   */
  readonly writesByDefault: number;
  /** Time of the last write that `writesByDefault` counts, milliseconds since 1970; 0 if there is none. */
  readonly lastWriteByDefaultMs: number;
}

export type UsageGranularity = 'hour' | 'day' | 'month' | 'total';
/** How a report groups usage; `account` means a parent together with all its sub-accounts. */
export type UsageGroup = 'account' | 'sub_account' | 'api_key';

/** Period from `fromMs` (inclusive) to `toMs` (exclusive), both on the hour, in milliseconds since 1970. */
export interface UsagePeriod {
  readonly fromMs: number;
  readonly toMs: number;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** Maximum length of a report's period, in days. */
export const usagePeriodMaxDays = 366;
export const usagePeriodMaxMs = usagePeriodMaxDays * dayMs;
