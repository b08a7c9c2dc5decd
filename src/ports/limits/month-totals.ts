/** Requests to add to a month. */
export interface MonthAddition {
  /** The kind and the id, as `sub_account:0198…`. */
  readonly limit: string;
  /** First instant of the month in which they were let through, milliseconds since 1970, UTC. */
  readonly monthMs: number;
  readonly requests: number;
  /** The limit, as it is now. */
  readonly quota: number;
}

export interface MonthTotal {
  readonly limit: string;
  readonly monthMs: number;
  /** Requests of all replicas. */
  readonly used: number;
}

export interface MonthReading {
  /** The store's clock, milliseconds since 1970. */
  readonly nowMs: number;
  /** Of what was added, and of every limit of this month that is near its end and was added to lately. */
  readonly totals: readonly MonthTotal[];
}

/** Requests of each month, over all replicas. What was added survives. */
export interface MonthTotals {
  /**
   * Adds a batch once: adding it again changes nothing.
   *
   * @param replica who adds
   * @param batch ascends for each replica, from 1
   * @param sinceMs of the limits near their end, those that were added to at this instant or later
   * @throws `unavailable` where the store cannot be reached; then the same batch is to be added again
   */
  add(
    replica: string,
    batch: number,
    additions: readonly MonthAddition[],
    sinceMs: number,
  ): Promise<MonthReading>;
}

/** From this part of its quota on a month is near its end. */
export const nearEnd = 0.9;

/** Up to here a quota counts as near its end from its first request on: every replica hears of what is used of it. */
export const smallQuota = 1_000;
