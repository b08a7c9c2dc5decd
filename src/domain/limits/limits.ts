import type { BucketFigures } from './bucket.ts';

/** Limits of a parent, a sub-account or an API key. Each is a positive integer, or `null` for no limit. */
export interface Limits {
  /** Average requests per second over all replicas. */
  readonly requestsPerSecond: number | null;
  /** Requests at once after a pause: the capacity of the bucket. `null`: one second's worth. */
  readonly burst: number | null;
  /** Requests in a calendar month, UTC. Keys have no such limit. */
  readonly requestsPerMonth: number | null;
}

export const noLimits: Limits = { requestsPerSecond: null, burst: null, requestsPerMonth: null };

/** Owner of a limit: the caller's key, the sub-account that a request operates on, or the parent with all its sub-accounts. */
export type LimitKind = 'api_key' | 'sub_account' | 'parent';

/** Period of a limit. A limit by the second is a bucket, a limit by the month a quota. */
export type LimitPeriod = 'second' | 'month';

/** Figures of one limit. A quota is a bucket that never fills: `perSecond` is 0. */
export interface LimitFigures extends BucketFigures {
  readonly period: LimitPeriod;
}

/** Returns the limits that are set, the shortest period first. */
export function limitsSet({ requestsPerSecond, burst, requestsPerMonth }: Limits): readonly LimitFigures[] {
  const set: LimitFigures[] = [];
  if (requestsPerSecond !== null)
    set.push({ period: 'second', capacity: burst ?? requestsPerSecond, perSecond: requestsPerSecond });
  if (requestsPerMonth !== null) set.push({ period: 'month', capacity: requestsPerMonth, perSecond: 0 });
  return set;
}

export function isQuota(period: LimitPeriod): boolean {
  return period === 'month';
}

export function sameLimits(a: Limits, b: Limits): boolean {
  return (
    a.requestsPerSecond === b.requestsPerSecond &&
    a.burst === b.burst &&
    a.requestsPerMonth === b.requestsPerMonth
  );
}

/** Name of a limit in `RateLimit`, `RateLimit-Policy` and metrics. */
export type LimitName = LimitKind | 'sub_account-month' | 'parent-month';

export function limitName(kind: LimitKind, period: LimitPeriod): LimitName {
  return period === 'second' || kind === 'api_key' ? kind : `${kind}-month`;
}
