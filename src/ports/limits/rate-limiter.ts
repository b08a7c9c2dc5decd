import type { LimitKind, LimitPeriod, Limits } from '../../domain/limits/limits.ts';

/** A key or account whose limits a request counts against. */
export interface LimitedBy {
  readonly kind: LimitKind;
  /**
   * Id of the account, or of the first key in a chain of rotations. Requests with the same kind and id count against
   * one limit.
   */
  readonly id: string;
  /** The present limits. Changed limits apply from the first call that passes them. */
  readonly limits: Limits;
  /** Whether responses may show the limit. Keys of sub-accounts do not see limits of their parent. */
  readonly shown: boolean;
}

/**
 * State of a limit as this replica knows it, for `RateLimit` and `RateLimit-Policy`
 * (draft-ietf-httpapi-ratelimit-headers).
 */
export interface LimitState {
  readonly kind: LimitKind;
  readonly period: LimitPeriod;
  /** `q`: requests per window, at least 1. */
  readonly quota: number;
  /** `w`: length of the window in seconds, at least 1. For a quota, the length of the present day or month. */
  readonly windowS: number;
  /** `r`: remaining requests, 0 to `quota`. */
  readonly remaining: number;
  /** `t`: seconds until the full quota is available again, at least 1. */
  readonly resetS: number;
}

/** One unit was taken from every limit. */
export interface Taken {
  readonly full: false;
  /** The shown limit with the smallest `remaining / quota`; `null` if there is none. */
  readonly scarcest: LimitState | null;
  /** Gives back the units, because the request was not handed over to an upstream. Call it at most once. */
  giveBack(): void;
}

/** Nothing was taken, because a limit is used up. */
export interface Full {
  readonly full: true;
  /**
   * The first limit that is used up, in the order `api_key`, `sub_account`, `parent`, and the shortest period first.
   */
  readonly kind: LimitKind;
  /** A quota (day, month) means `quota_exceeded`, a bucket (second, minute) `rate_limited`. */
  readonly period: LimitPeriod;
  /** Whole seconds until there may be room, at least 1. */
  readonly retryAfterS: number;
  readonly scarcest: LimitState | null;
}

/**
 * Enforces limits that count over all replicas. A request waits only if this replica has no unit at hand, and at most
 * 25 ms.
 */
export interface RateLimiter {
  /**
   * Takes one unit from all of these limits, or from none. Never throws.
   *
   * @param later called with the result if the result is not known at once; never called in this turn of the event loop
   * @returns the result; `null` if a store has to be asked
   */
  take(by: readonly LimitedBy[], later: (result: Taken | Full) => void): Taken | Full | null;
  /**
   * Returns the states of all these limits, shown or not, in the order of {@link Full.kind}, as the stores know them.
   * Takes nothing.
   */
  look(by: readonly LimitedBy[]): Promise<readonly LimitState[]>;
}
