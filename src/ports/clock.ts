import { performance } from 'node:perf_hooks';

/** Time, passed in so that tests can choose it. */
export interface Clock {
  /** Milliseconds since 1970; may jump. For what people and other machines read. */
  wallMs(): number;
  /** Milliseconds since some start; never goes back. For leases and durations. */
  monotonicMs(): number;
}

/** The machine's clocks. The import matters: as a global, `performance` is looked up anew each time, for half of what a reading costs. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
