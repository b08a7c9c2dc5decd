/** Where the gateway counts requests, in tests that have no store. */
import type { CountedKind, CountedRequest, UsageSink } from '../../src/ports/usage.ts';

/** A request that was counted, as far as it has come. */
export interface UsageEvent extends CountedRequest {
  readonly kind: CountedKind;
  /** 0 while it is under way. */
  status: number;
  bytesIn: number;
  bytesOut: number;
  units: number;
}

/** Counts into an array: one entry for each request. */
export function countedIn(events: UsageEvent[]): UsageSink {
  return {
    ...noCounting,
    count: (by, kind) => {
      const event = { ...by, kind, hourMs: 0, status: 0, bytesIn: 0, bytesOut: 0, units: 0 };
      events.push(event);
      return event;
    },
    takeBack: (counted) => void events.splice(events.indexOf(counted as UsageEvent), 1),
    noteOutcome: (counted, status) => void ((counted as UsageEvent).status = status),
    noteBytes: (counted, bytesIn, bytesOut) => {
      (counted as UsageEvent).bytesIn += bytesIn;
      (counted as UsageEvent).bytesOut += bytesOut;
    },
    noteUnits: (counted, units) => void ((counted as UsageEvent).units += units),
  };
}

/** Counts nothing. */
export const noCounting: UsageSink = {
  count: (by) => ({ ...by, hourMs: 0 }),
  takeBack: () => undefined,
  commit: () => undefined,
  noteOutcome: () => undefined,
  noteBytes: () => undefined,
  noteUnits: () => undefined,
  noteMalformedUnits: () => undefined,
  touch: () => undefined,
  onCollect: () => () => undefined,
};
