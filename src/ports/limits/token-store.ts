import type { BucketFigures, BucketQuestion } from '../../domain/limits/bucket.ts';
import type { LimitPeriod } from '../../domain/limits/limits.ts';

/** A question about one limit. Stores of buckets read `back`; stores of quotas read `spent`, `hand` and `series`. */
export interface TokenQuestion extends BucketFigures, BucketQuestion {
  /** Kind, id and period of the limit, such as `sub_account:0198…:second`. */
  readonly limit: string;
  readonly period: LimitPeriod;
  /** Total number of tokens of this series that the replica has spent. */
  readonly spent: number;
  /** Tokens of this series that the replica has at hand. */
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

/** A day or a month of UTC, by the store's clock. */
export interface QuotaWindow {
  /** Number that changes with each new window, and whenever the count of the quota begins anew. */
  readonly series: number;
  /** Tokens of this series that the replica had spent before the answer. */
  readonly spent: number;
  /** Length of the window, in milliseconds. */
  readonly lengthMs: number;
  /** Milliseconds until the window ends. */
  readonly endsInMs: number;
}

/**
 * The tokens of limits, shared by all replicas, on one clock. Each limit per second or minute is a bucket, and each
 * limit per day or month a quota. A store may lose its buckets, even all at once: a bucket that the store does not have
 * counts as full.
 */
export interface TokenStore {
  /**
   * Asks for tokens. A call contains at most one question about each limit. An element of the result is an error if the
   * tokens of its limit cannot be reached while those of others can. A call without questions shows whether the store
   * can be reached.
   *
   * @throws if the store cannot be reached
   */
  ask(questions: readonly TokenQuestion[]): Promise<readonly (TokenAnswer | Error)[]>;
}
