import type { BucketFigures, BucketQuestion } from '../../domain/limits/bucket.ts';
import type { LimitPeriod } from '../../domain/limits/limits.ts';

/** What a replica asks about one limit. Bucket stores use `back`; quota stores use `spent`, `hand` and `series`. */
export interface TokenQuestion extends BucketFigures, BucketQuestion {
  /** Kind, id and period of the limit, such as `sub_account:0198…:second`. `:units` follows if it counts units. */
  readonly limit: string;
  readonly period: LimitPeriod;
  /** Total number of tokens that the replica has spent in `series`. */
  readonly spent: number;
  /** Tokens of `series` that the replica has on hand. */
  readonly hand: number;
  /** Series of the last answer; `null` before the first answer. */
  readonly series: number | null;
}

export interface TokenAnswer {
  readonly granted: number;
  /** Tokens left in the store. */
  readonly left: number;
  /** Window of a quota; absent for a bucket. */
  readonly window?: QuotaWindow;
}

/** A day or month in UTC, by the store's clock. */
export interface QuotaWindow {
  /** Number that changes with each new window, and whenever the quota's count starts over. */
  readonly series: number;
  /** Tokens that the replica had spent in `series` before the answer. */
  readonly spent: number;
  /** Length of the window, in milliseconds. */
  readonly lengthMs: number;
  /** Milliseconds until the window ends. */
  readonly endsInMs: number;
}

/**
 * Store of the tokens of limits. All replicas share the store, and its clock applies to all of them. Each limit per
 * second or minute is a bucket, and each limit per day or month is a quota. A store may lose buckets, even all at once:
 * a missing bucket counts as full.
 */
export interface TokenStore {
  /**
   * Asks for tokens, with at most one question per limit. The result holds an answer to each question. If only part of
   * the store can be reached, the result holds an error instead of an answer for each limit in the other part. A call
   * without questions checks whether the store can be reached.
   *
   * @throws if the store cannot be reached
   */
  ask(questions: readonly TokenQuestion[]): Promise<readonly (TokenAnswer | Error)[]>;
}
