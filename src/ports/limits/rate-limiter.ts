import type { LimitKind, LimitPeriod, Limits } from '../../domain/limits/limits.ts';

/** One of those whose limits a request counts against. */
export interface LimitedBy {
  readonly kind: LimitKind;
  /** Requests with the same kind and id share one limit: an account's id, or for a key the id that it shares with the keys it was rotated from. */
  readonly id: string;
  /** As they are now: a changed limit acts with the call that brings it. */
  readonly limits: Limits;
  /** Whether its figures may be told to the caller: those of a parent are not, to keys of its sub-accounts. */
  readonly shown: boolean;
}

/** What a limit has left, as far as this replica knows. For the fields of `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). */
export interface LimitState {
  readonly kind: LimitKind;
  readonly period: LimitPeriod;
  /** `q`: what there is in a window, at least 1. */
  readonly quota: number;
  /** `w`, seconds, at least 1. A month's are those of the present one. */
  readonly windowS: number;
  /** `r`: what is left, 0 to `quota`. */
  readonly remaining: number;
  /** `t`: seconds until all of it is there again, at least 1. */
  readonly resetS: number;
}

/** One unit was taken of every limit. */
export interface Taken {
  readonly full: false;
  /** Of those shown, the one with the smallest `remaining / quota`; `null` where none has a limit. */
  readonly scarcest: LimitState | null;
}

/** Nothing was taken, since a limit has no room. */
export interface Full {
  readonly full: true;
  /** The first that is full: of `api_key`, `sub_account`, `parent`, seconds before months. */
  readonly kind: LimitKind;
  /** `second`: `rate_limited`; `month`: `quota_exceeded`. */
  readonly period: LimitPeriod;
  /** Whole seconds until there may be room, at least 1. */
  readonly retryAfterS: number;
  readonly scarcest: LimitState | null;
}

/** Limits over all replicas, without a round trip: each replica takes from what was left to it. */
export interface RateLimiter {
  /** Takes one unit of every limit of these, in any order, or none. Never throws. */
  take(by: readonly LimitedBy[]): Taken | Full;
  /** Every limit of these, shown or not, in the order in which a full one is named. Takes nothing. */
  look(by: readonly LimitedBy[]): readonly LimitState[];
}
