import type { FieldFault } from './problem.ts';
import { dayMs, type UsageGranularity, type UsagePeriod } from './usage.ts';

/** Times from which usage is still kept, in milliseconds since 1970; -Infinity if nothing was deleted. */
export interface KeptUsage {
  /** Hourly counts from before this time have been deleted. Daily counts are still kept. */
  readonly hoursFromMs: number;
  /** Daily counts from before this time have been deleted. */
  readonly daysFromMs: number;
}

/**
 * Checks that all usage in a period is still kept. If some of it were deleted, a report would silently show too little.
 *
 * @returns the first fault, or `null` if all of the usage is kept
 */
export function missingUsage(
  { fromMs, toMs }: UsagePeriod,
  granularity: UsageGranularity,
  { hoursFromMs, daysFromMs }: KeptUsage,
): FieldFault | null {
  if (fromMs < daysFromMs)
    return {
      pointer: '?from',
      detail: `is before ${isoTime(daysFromMs)}. Usage of earlier months has been deleted (usage.retention_months).`,
    };
  if (granularity === 'hour' && fromMs < hoursFromMs)
    return {
      pointer: '?from',
      detail: `is before ${isoTime(hoursFromMs)}. Earlier usage is kept by the day (usage.hourly_retention_days): ask for granularity=day, or for a later start.`,
    };
  for (const [pointer, ms] of [
    ['?from', fromMs],
    ['?to', toMs],
  ] as const)
    if (ms % dayMs !== 0 && ms < hoursFromMs)
      return {
        pointer,
        detail: `is within a day, and usage before ${isoTime(hoursFromMs)} is kept by the day (usage.hourly_retention_days): name a date, or a time at 00:00 UTC.`,
      };
  return null;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}
