import type { FieldFault } from './problem.ts';
import { dayMs, type UsageGranularity, type UsagePeriod } from './usage.ts';

/** What there still is of usage; milliseconds since 1970, or -Infinity where nothing was deleted. */
export interface KeptUsage {
  /** Hours from before this are gone, and were added up to days. */
  readonly hoursFromMs: number;
  /** Days from before this are gone. */
  readonly daysFromMs: number;
}

/**
 * What keeps a report from being made of what is kept: it would show too little, and not say so.
 *
 * @returns the first fault, or `null` where everything that is asked for is there
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
      detail: `is before ${isoTime(hoursFromMs)}. Earlier usage is kept by the day (usage.hourly_retention_days): ask for granularity=day, or from then on.`,
    };
  for (const [pointer, ms] of [
    ['?from', fromMs],
    ['?to', toMs],
  ] as const)
    if (ms % dayMs !== 0 && ms < hoursFromMs)
      return {
        pointer,
        detail: `lies within a day, and usage before ${isoTime(hoursFromMs)} is kept by the day (usage.hourly_retention_days): name a date, or a time at 00:00 UTC.`,
      };
  return null;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}
