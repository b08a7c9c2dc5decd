/** Time, passed in so that tests can choose it. */
export interface Clock {
  /** Milliseconds since 1970; may jump. For times that people and other machines read. */
  wallMs(): number;
  /** Milliseconds since some start; never goes back. For leases and durations. */
  monotonicMs(): number;
}

/** The global object is read once here: a look-up for each call would take half of the time of a reading. */
const { performance } = globalThis;

/** The machine's clocks. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
