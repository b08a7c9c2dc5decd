/** Clocks, passed in so that tests can set the time. */
export interface Clock {
  /** Milliseconds since 1970; may jump. For times that people and other machines read. */
  wallMs(): number;
  /** Milliseconds since some start; never goes back. For leases and durations. */
  monotonicMs(): number;
}

/**
 * Read from the global object only once: a look-up at each call would take half of the time that reading the clock
 * takes.
 */
const { performance } = globalThis;

/** The machine's clocks. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
