/** Clocks, passed in so that tests can set the time. */
export interface Clock {
  /** Milliseconds since 1970; may jump. For times that people or other machines read. */
  wallMs(): number;
  /** Milliseconds since an arbitrary start; never goes backwards. For leases and durations. */
  monotonicMs(): number;
}

/**
 * `performance` is read from the global object only once. Looking it up on every call would take half as long as
 * reading the clock.
 */
const { performance } = globalThis;

/** The machine's clocks. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
