import type { LimitKind, LimitPeriod } from '../../domain/limits/limits.ts';
import type { LimitState } from '../../ports/limits/rate-limiter.ts';
import type { MonthQuota } from './month-quota.ts';
import type { RateBucket } from './rate-bucket.ts';

/**
 * State of a limit by the second. Its window is the time in which the whole quota is used and given again: a second, or
 * longer for a larger burst.
 */
export function secondState(kind: LimitKind, bucket: RateBucket, nowMs: number): LimitState {
  const { rate, burst } = bucket;
  const quota = Math.max(rate, burst);
  const remaining = Math.min(quota, bucket.remainingAt(nowMs));
  return {
    kind,
    period: 'second',
    quota,
    windowS: Math.ceil(quota / rate),
    remaining,
    resetS: Math.max(1, Math.ceil((quota - remaining) / rate)),
  };
}

/** Length of the present month, and the time left in it. */
export interface Month {
  readonly lengthMs: number;
  readonly untilNextMs: number;
}

export function monthState(kind: LimitKind, quota: MonthQuota, month: Month): LimitState {
  return {
    kind,
    period: 'month',
    quota: quota.quota,
    windowS: Math.round(month.lengthMs / 1000),
    remaining: Math.floor(quota.left),
    resetS: Math.max(1, Math.ceil(month.untilNextMs / 1000)),
  };
}

/** Returns the state with the smaller part of its quota left; the first if both are equal. */
export function scarcer(a: LimitState | null, b: LimitState): LimitState {
  return a === null || b.remaining * a.quota < a.remaining * b.quota ? b : a;
}

/** Longest Retry-After for a limit by the second, in seconds. */
const mostRetryS = 60;

/** Whole seconds until a full limit may have room, at least 1. */
export function retryAfterS(
  { bucket, quota }: { readonly bucket: RateBucket | null; readonly quota: MonthQuota | null },
  period: LimitPeriod,
  { untilNextMs }: Month,
): number {
  if (period === 'second')
    return Math.min(Math.max(1, Math.ceil((bucket?.waitMs() ?? 0) / 1000)), mostRetryS);
  // Other replicas may hold the remaining requests, which are divided again soon.
  if (quota !== null && quota.left >= 1) return 1;
  return Math.max(1, Math.ceil(untilNextMs / 1000));
}
