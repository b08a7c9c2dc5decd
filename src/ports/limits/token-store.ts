import type { BucketFigures, BucketQuestion } from '../../domain/limits/bucket.ts';
import type { LimitPeriod } from '../../domain/limits/limits.ts';

/**
 * A replica's question about one limit. A store of buckets uses `back`; a store of quotas uses `spent`, `hand` and
 * `series`.
 */
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
 * Store of tokens for limits, which all replicas share and which has one clock for all of them. Each limit per second
 * or minute is a bucket, and each limit per day or month a quota. A store may lose buckets, even all at once: a bucket
 * that the store does not have counts as full.
 */
export interface TokenStore {
  /**
   * Asks for tokens, with at most one question about each limit. The result holds an answer to each question, or an
   * error if only the tokens of that limit cannot be reached. A call without questions checks whether the store can be
   * reached.
   *
   * @throws if the store cannot be reached
   */
  ask(questions: readonly TokenQuestion[]): Promise<readonly (TokenAnswer | Error)[]>;
}
