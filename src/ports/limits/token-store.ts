import type { BucketFigures, BucketQuestion } from '../../domain/limits/bucket.ts';
import type { LimitPeriod } from '../../domain/limits/limits.ts';

/** A question about one limit. Stores of buckets read `back`; stores of quotas read `spent`, `hand` and `series`. */
export interface TokenQuestion extends BucketFigures, BucketQuestion {
  /** Kind, id and period of the limit, such as `sub_account:0198…:second`. */
  readonly limit: string;
  readonly period: LimitPeriod;
  /** Tokens of this series that the replica has spent, in all. */
  readonly spent: number;
  /** Tokens of this series that the replica has at hand. */
  readonly hand: number;
  /** Series of the last answer; `null` before the first. */
  readonly series: number | null;
}

export interface TokenAnswer {
  readonly granted: number;
  /** Tokens left in the store. */
  readonly left: number;
  /** Window of a quota; absent for a bucket. */
  readonly window?: QuotaWindow;
}

/** A day or a month of UTC, by the store's clock. */
export interface QuotaWindow {
  /** Number that changes with the window, and when the quota is counted anew. */
  readonly series: number;
  /** Tokens of this series that the replica had spent before the answer. */
  readonly spent: number;
  /** Milliseconds. */
  readonly lengthMs: number;
  /** Milliseconds until it ends. */
  readonly endsInMs: number;
}

/**
 * The tokens of limits, shared by all replicas, on one clock. Each limit by the second or minute is a bucket, and each
 * limit by the day or month a quota. A store of buckets may lose them, even all at once: a bucket that it does not have
 * is full.
 */
export interface TokenStore {
  /**
   * Asks for tokens, at most once for each limit in a call. An element of the result is an error if this limit cannot
   * be reached while others can. A call with no questions tells whether the store can be reached.
   *
   * @throws if the store cannot be reached
   */
  ask(questions: readonly TokenQuestion[]): Promise<readonly (TokenAnswer | Error)[]>;
}
