import type { FieldFault } from './problem.ts';
import { instantFault, latestInstantMs, parseInstant } from './rfc3339.ts';
import { hourMs, usagePeriodMaxDays, usagePeriodMaxMs, type UsagePeriod } from './usage.ts';

/** Period of a usage report, as the client requested it. */
export interface AskedPeriod {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Parses the period of a usage report: `from` inclusive, `to` exclusive, by default from the start of this month (UTC)
 * until now. Usage is kept by the hour, so `from` is rounded down and `to` is rounded up to the hour.
 *
 * @param nowMs current time in milliseconds since 1970
 * @returns the period, or at least one fault
 */
export function readUsagePeriod(asked: AskedPeriod, nowMs: number): UsagePeriod | readonly FieldFault[] {
  const fromMs = asked.from === undefined ? startOfMonth(nowMs) : parseInstant(asked.from);
  // In the first millisecond of a month, the period until now would be empty, so it ends one millisecond later.
  const toMs = asked.to === undefined ? nowMs + 1 : parseInstant(asked.to);
  if (fromMs === undefined || toMs === undefined) {
    return [
      ...(fromMs === undefined ? [{ pointer: '?from', detail: instantFault(asked.from ?? '') }] : []),
      ...(toMs === undefined ? [{ pointer: '?to', detail: instantFault(asked.to ?? '') }] : []),
    ];
  }
  if (toMs <= fromMs) {
    return asked.to === undefined
      ? [{ pointer: '?from', detail: 'must be earlier than `to`, which is now unless given.' }]
      : [
          {
            pointer: '?to',
            detail: 'must be later than `from`, which is the start of this month unless given.',
          },
        ];
  }
  if (toMs - fromMs > usagePeriodMaxMs + (asked.to === undefined ? 1 : 0)) {
    return [
      {
        pointer: '?from',
        detail: `must be at most ${usagePeriodMaxDays} days before \`to\`, which is now unless given.`,
      },
    ];
  }
  const period = { fromMs: floorHour(fromMs), toMs: ceilHour(toMs) };
  return period.toMs > latestInstantMs ? [{ pointer: '?to', detail: 'is too far in the future.' }] : period;
}

/**
 * Returns whether {@link readUsagePeriod} could have returned this period. Cursors contain a period, and clients can
 * forge cursors.
 */
export function isUsagePeriod({ fromMs, toMs }: UsagePeriod): boolean {
  return (
    Number.isSafeInteger(fromMs) &&
    Number.isSafeInteger(toMs) &&
    fromMs >= 0 &&
    fromMs % hourMs === 0 &&
    toMs % hourMs === 0 &&
    fromMs < toMs &&
    toMs <= latestInstantMs &&
    toMs - fromMs <= usagePeriodMaxMs + 2 * hourMs
  );
}

function startOfMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

function floorHour(ms: number): number {
  return Math.floor(ms / hourMs) * hourMs;
}

function ceilHour(ms: number): number {
  return Math.ceil(ms / hourMs) * hourMs;
}
