/** Requests to add to a month. */
export interface MonthAddition {
  /** Kind and id of the limit, such as `sub_account:0198…`. */
  readonly limit: string;
  /** Start of the month in which the requests were admitted, UTC, milliseconds since 1970. */
  readonly monthMs: number;
  readonly requests: number;
  /** Quota as this replica knows it. A quota that was changed in the store in this month takes precedence. */
  readonly quota: number;
}

export interface MonthTotal {
  readonly limit: string;
  readonly monthMs: number;
  /** Requests of all replicas. */
  readonly used: number;
}

/** Position in the list of limits near their end, which is ordered by their last addition or change. */
export interface NearAfter {
  /** Time as ISO 8601, by the store's clock. */
  readonly at: string;
  /** Last limit of the previous page; without it all limits of the time `at` are read, too. */
  readonly limit?: string;
}

export interface MonthReading {
  /** Present time of the store before the reading, milliseconds since 1970. */
  readonly nowMs: number;
  /** Totals of the limits that were added to, and of a page of this month's limits near their end. */
  readonly totals: readonly MonthTotal[];
  /** Start of the next page; `null` if this is the last. */
  readonly next: NearAfter | null;
}

/** Durable totals of requests per month, over all replicas. */
export interface MonthTotals {
  /**
   * Adds a batch. Adding it again changes nothing.
   *
   * @param replica id of the calling replica
   * @param batch number of the batch, ascending from 1 for each replica
   * @param after page of the limits near their end to read
   * @throws `unavailable` if the store cannot be reached; add the same batch again then
   */
  add(
    replica: string,
    batch: number,
    additions: readonly MonthAddition[],
    after: NearAfter,
  ): Promise<MonthReading>;
}

/** Limits in a page of those near their end; few, so that other calls of the limiter hardly wait. */
export const nearPage = 5_000;

/** Used fraction from which on a quota is near its end. */
export const nearEnd = 0.9;

/** Quotas up to this count as near their end from the first request on, so that every replica reads their totals. */
export const smallQuota = 1_000;
