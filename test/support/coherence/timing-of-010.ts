import type { Timing } from '../../../src/coherence/timing.ts';

/** In 0.1.0 a replica took a thirtieth of its T off, and waited a thirtieth of its own T beyond the longest lease. */
export function timingOf010(timing: Timing): Timing {
  const guardMs = Math.max(5, timing.leaseMs / 30);
  return { ...timing, marginMs: guardMs, leaseWaitMs: (leaseMs) => leaseMs + guardMs };
}
