import type { AccountId, KeyId } from './ids.ts';

/** What is counted of proxied requests; management is not usage. Bytes are of bodies. */
export interface UsageCounts {
  readonly requests: number;
  readonly reads: number;
  readonly writes: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Counts of one hour: whom the requests operated on, and with which key. */
export interface UsageRow extends UsageCounts {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Start of the hour, milliseconds since 1970, UTC. */
  readonly hourMs: number;
  /** When the key was last in use in that hour, milliseconds since 1970. */
  readonly lastUsedMs: number;
  /** Of the writes: those of a parent's key without the acting header, which its first sub-account would have rejected. */
  readonly writesByDefault: number;
  /** When the last of those was handed over, milliseconds since 1970; 0 where there is none. */
  readonly lastWriteByDefaultMs: number;
}

export type UsageGranularity = 'hour' | 'day' | 'month' | 'total';
/** `account`: a parent and all its sub-accounts together. */
export type UsageGroup = 'account' | 'sub_account' | 'api_key';

/** `from` inclusive, `to` exclusive, both on the hour, milliseconds since 1970. */
export interface UsagePeriod {
  readonly fromMs: number;
  readonly toMs: number;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** Longest period a report may cover. */
export const usagePeriodMaxMs = 366 * dayMs;
