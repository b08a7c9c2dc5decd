import type { LimitId, LimitKind, Limits } from '../../domain/limits/limits.ts';

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
export interface LimitState extends LimitId {
  readonly kind: LimitKind;
  /** `q`: requests or units per window, at least 1. */
  readonly quota: number;
  /** `w`: length of the window in seconds, at least 1. For a quota, the length of the current day or month. */
  readonly windowS: number;
  /** `r`: remaining requests or units, 0 to `quota`. */
  readonly remaining: number;
  /** `t`: seconds until the full quota is available again, at least 1. */
  readonly resetS: number;
}

/** One token was taken from every limit. */
export interface Taken {
  readonly full: false;
  /**
   * Limit with the smallest `remaining / quota` now, among those that responses may show; `null` if there is none.
   */
  readonly scarcest: LimitState | null;
  /** Gives the tokens back. Call it at most once, and only if the request was not handed to an upstream. */
  giveBack(): void;
  /**
   * Takes what the response says that the request was worth from the limits that count units, in place of the token that
   * the request took from each of them. Call it once for each request that was handed to an upstream, whatever its limits
   * are; 0 stands for a request without a response. Until this call, or {@link giveBack}, its limits stay in memory.
   *
   * @param units 0 to 2^53 - 1
   * @param told called once the shared store knows of all these units, or if it does not answer within
   * `limits.answer_ms`. Once the store knows, no replica admits a request that these units leave no room for
   * @returns `true` if the store knows already, so that `told` is not called
   */
  takeUnits(units: number, told: () => void): boolean;
}

/** Nothing was taken, because a limit is used up or may be. */
export interface Full extends LimitId {
  readonly full: true;
  /**
   * Whether the shared store said that the limit is used up. If `false`, the store did not answer in time, and this
   * replica's own share is used up.
   */
  readonly confirmed: boolean;
  /**
   * Kind of the limit that is used up. If several limits are used up, this is the first of their kinds in the order
   * `api_key`, `sub_account`, `parent`. Within a kind, limits with shorter periods come first, and a limit of units last.
   * Only a quota (a day or month) that is `confirmed` means `quota_exceeded`; otherwise it is `rate_limited`.
   */
  readonly kind: LimitKind;
  /** Seconds after which a request may succeed again; a whole number, at least 1. */
  readonly retryAfterS: number;
  /** As in {@link Taken}; `null` if the rejection is not `confirmed`. */
  readonly scarcest: LimitState | null;
}

/**
 * Enforces limits that count requests across all replicas. A request waits only if this replica has too few tokens left
 * and has to ask a shared store. It waits for at most 25 ms, for the first answer about a limit 250 ms, and for quotas
 * `limits.answer_ms`.
 */
export interface RateLimiter {
  /**
   * Takes one token from all of these limits, or from none. Never throws. A limit of units admits a request as long as a
   * unit is left, and takes the rest when the response comes; see {@link Taken.takeUnits}.
   *
   * @param later receives the result if this call returned `null`; called in a later turn of the event loop
   * @returns the result; `null` if a store has to be asked first
   */
  take(by: readonly LimitedBy[], later: (result: Taken | Full) => void): Taken | Full | null;
  /**
   * Asks the stores for the states of all these limits, shown or not, and returns them in the order described at
   * {@link Full.kind}. Takes no tokens.
   */
  look(by: readonly LimitedBy[]): Promise<readonly LimitState[]>;
}
