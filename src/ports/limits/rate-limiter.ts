import type { LimitKind, LimitPeriod, Limits } from '../../domain/limits/limits.ts';

/** A key or account whose limits a request counts against. */
export interface LimitedBy {
  readonly kind: LimitKind;
  /**
   * Id of the account, or `limitId` of the key, which rotated keys share. Requests with the same kind and id count
   * against the same limit.
   */
  readonly id: string;
  /** The current limits. Changed limits apply from the first call that passes them. */
  readonly limits: Limits;
  /** Whether responses may show the limit. Responses to a sub-account's keys do not show the parent's limits. */
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
  /** `w`: length of the window in seconds, at least 1. For a quota, the length of the current day or month. */
  readonly windowS: number;
  /** `r`: remaining requests, 0 to `quota`. */
  readonly remaining: number;
  /** `t`: seconds until the full quota is available again, at least 1. */
  readonly resetS: number;
}

/** One unit was taken from every limit. */
export interface Taken {
  readonly full: false;
  /** Limit with the smallest `remaining / quota` among those that responses may show; `null` if there is none. */
  readonly scarcest: LimitState | null;
  /** Gives the units back. Call it at most once, and only if the request was not handed to an upstream. */
  giveBack(): void;
}

/** Nothing was taken, because a limit is used up. */
export interface Full {
  readonly full: true;
  /**
   * Kind of the limit that is used up. If several limits are used up, this is the first of their kinds in the order
   * `api_key`, `sub_account`, `parent`. Within a kind, limits with shorter periods come first.
   */
  readonly kind: LimitKind;
  /**
   * Period of the limit that is used up: a day or month (a quota) means `quota_exceeded`, a second or minute (a bucket)
   * means `rate_limited`.
   */
  readonly period: LimitPeriod;
  /** Seconds after which a request may succeed again; a whole number, at least 1. */
  readonly retryAfterS: number;
  readonly scarcest: LimitState | null;
}

/**
 * Enforces limits that count requests across all replicas. A request waits only if this replica has too few units left
 * and has to ask a shared store. The request then waits for at most 25 ms.
 */
export interface RateLimiter {
  /**
   * Takes one unit from all of these limits, or from none. Never throws.
   *
   * @param later receives the result if this call returned `null`; called in a later turn of the event loop
   * @returns the result; `null` if a store has to be asked first
   */
  take(by: readonly LimitedBy[], later: (result: Taken | Full) => void): Taken | Full | null;
  /**
   * Asks the stores for the states of all these limits, shown or not, and returns them in the order described at
   * {@link Full.kind}. Takes no units.
   */
  look(by: readonly LimitedBy[]): Promise<readonly LimitState[]>;
}
