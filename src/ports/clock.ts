/** Time, passed in so that tests can choose it. */
export interface Clock {
  /** Milliseconds since 1970; may jump. For what people and other machines read. */
  wallMs(): number;
  /** Milliseconds since some start; never goes back. For leases and durations. */
  monotonicMs(): number;
}

/** Taken once: as a global it is looked up anew each time, for half of what a reading costs. */
const { performance } = globalThis;

/** The machine's clocks. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
