/** Requests to add to a month. */
export interface MonthAddition {
  /** The kind and the id, as `sub_account:0198…`. */
  readonly limit: string;
  /** First instant of the month in which they were let through, milliseconds since 1970, UTC. */
  readonly monthMs: number;
  readonly requests: number;
  /** The limit as this replica knows it. One that was changed in the store in this month counts instead. */
  readonly quota: number;
}

export interface MonthTotal {
  readonly limit: string;
  readonly monthMs: number;
  /** Requests of all replicas. */
  readonly used: number;
}

/** From where on the limits near their end are read, which are in the order in which they were last added to or changed. */
export interface NearAfter {
  /** An instant as ISO 8601, by the store's clock. */
  readonly at: string;
  /** The last one of the page before; without it those of that instant are read, too. */
  readonly limit?: string;
}

export interface MonthReading {
  /** The store's clock, milliseconds since 1970, before it was read. */
  readonly nowMs: number;
  /** Of what was added, and a page of the limits of this month that are near their end. */
  readonly totals: readonly MonthTotal[];
  /** Where the next page begins; `null` where this is the last. */
  readonly next: NearAfter | null;
}

/** Requests of each month, over all replicas. What was added survives. */
export interface MonthTotals {
  /**
   * Adds a batch once: adding it again changes nothing.
   *
   * @param replica who adds
   * @param batch ascends for each replica, from 1
   * @param after of the limits near their end, which page
   * @throws `unavailable` where the store cannot be reached; then the same batch is to be added again
   */
  add(
    replica: string,
    batch: number,
    additions: readonly MonthAddition[],
    after: NearAfter,
  ): Promise<MonthReading>;
}

/** Limits near their end in one page: few enough that other calls of the limiter hardly wait for it. */
export const nearPage = 5_000;

/** From this part of its quota on a month is near its end. */
export const nearEnd = 0.9;

/** Up to here a quota counts as near its end from its first request on: every replica hears of what is used of it. */
export const smallQuota = 1_000;
