/** How much a parent, a sub-account or an API key may use. Each a positive integer, or `null` where there is none. */
export interface Limits {
  /** Requests a second on average, over all replicas. */
  readonly requestsPerSecond: number | null;
  /** Requests at once after a rest: the capacity of the bucket. `null`: one second's worth. */
  readonly burst: number | null;
  /** Requests in a calendar month, UTC. Keys have none. */
  readonly requestsPerMonth: number | null;
}

export const noLimits: Limits = { requestsPerSecond: null, burst: null, requestsPerMonth: null };

/** Whose limit: of the caller's key, of the sub-account a request operates on, or of the parent with all of its sub-accounts. */
export type LimitKind = 'api_key' | 'sub_account' | 'parent';

/** What a limit counts by. */
export type LimitPeriod = 'second' | 'month';

/** What a limit is called in `RateLimit`, `RateLimit-Policy` and metrics. */
export type LimitName = LimitKind | 'sub_account-month' | 'parent-month';

export function limitName(kind: LimitKind, period: LimitPeriod): LimitName {
  return period === 'second' || kind === 'api_key' ? kind : `${kind}-month`;
}
