import { parentOf, type Caller } from './caller.ts';
import type { AccountId, KeyId } from './ids.ts';

/**
 * Counts of proxied requests; management calls do not count as usage. `bytesIn` and `bytesOut` count bodies only.
 * `units` is what the responses say that the requests were worth (`usage.units_header`): at most 2^53 - 1.
 */
export interface UsageCounts {
  readonly requests: number;
  readonly reads: number;
  readonly writes: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly units: number;
}

/**
 * Returns the units that a response's header states: a whole number from 0 to 2^53 - 1 in decimal digits. Returns `null`
 * for any other value.
 */
export function readUnits(value: string): number | null {
  const units = /^\d{1,16}$/.test(value) ? Number(value) : NaN;
  return Number.isSafeInteger(units) ? units : null;
}

/** Returns a sum of units, at most 2^53 - 1. */
export function sumOfUnits(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

/** Account for which a request is made, and the key with which it is made. */
export interface UsedBy {
  readonly accountId: AccountId;
  /** Parent of the account; the account itself if it is a parent. */
  readonly parentId: AccountId;
  readonly keyId: KeyId;
}

/** Returns for whom a request of the caller is counted. @param accountId the caller's account, or a sub-account of it */
export function usedBy(caller: Caller, accountId: AccountId): UsedBy {
  return { accountId, parentId: parentOf(caller), keyId: caller.keyId };
}

/** Counts of the requests made for one account with one key in one hour. */
export interface UsageRow extends UsedBy, UsageCounts {
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
/** Grouping of usage in a report; `account` means a parent together with all its sub-accounts. */
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
