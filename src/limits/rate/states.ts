import { rounding } from '../../domain/limits/bucket.ts';
import { calendarWindow, isQuota } from '../../domain/limits/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LimitState } from '../../ports/limits/rate-limiter.ts';
import type { Portion } from './portion.ts';

/**
 * Returns the state of a limit. A bucket's window is the time that an empty bucket takes to fill, but at least a
 * second. Until the store has answered for the first time, a quota's window is computed from this process's clock.
 */
export function stateOf(portion: Portion, clock: Clock): LimitState {
  const { kind, figures, known } = portion;
  const { period, unit, capacity, perSecond } = figures;
  const remaining = Math.max(0, Math.floor(known + rounding));
  if (isQuota(period)) {
    const window = portion.windowAt(clock.monotonicMs()) ?? calendarWindow(period, clock.wallMs());
    const { lengthMs, endsInMs } = window;
    const windowS = Math.max(1, Math.round(lengthMs / 1000));
    return {
      kind,
      period,
      unit,
      quota: capacity,
      windowS,
      remaining,
      resetS: Math.max(1, Math.ceil(endsInMs / 1000)),
    };
  }
  const quota = Math.max(perSecond, capacity);
  const resetS = Math.max(1, Math.ceil((capacity - remaining) / perSecond));
  return { kind, period, unit, quota, windowS: Math.ceil(quota / perSecond), remaining, resetS };
}

/** Returns the state with the smaller fraction of its quota left, or `a` if the fractions are equal. */
export function scarcer(a: LimitState | null, b: LimitState): LimitState {
  return a === null || b.remaining * a.quota < a.remaining * b.quota ? b : a;
}

/** Maximum `Retry-After` for a bucket, in seconds. */
const mostRetryS = 60;

/**
 * Returns the number of whole seconds, at least 1, until a used-up limit may have room again.
 *
 * @param nowMs monotonic time
 */
export function retryAfterS(portion: Portion, nowMs: number): number {
  if (isQuota(portion.figures.period))
    return Math.max(1, Math.ceil((portion.windowAt(nowMs)?.endsInMs ?? 0) / 1000));
  return Math.min(Math.max(1, Math.ceil(portion.emptyForMs(nowMs) / 1000)), mostRetryS);
}
