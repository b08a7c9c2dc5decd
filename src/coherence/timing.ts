/** Durations of the protocol, in milliseconds, all derived from the one that is configured. */
export interface Timing {
  /** T: how long a replica may decide after it began to renew. */
  readonly leaseMs: number;
  /** How much earlier than T a replica stops, for clocks that run at different speeds. */
  readonly marginMs: number;
  /** How much longer than T the other replicas wait for a lease to end, for the same reason. */
  readonly epsilonMs: number;
  readonly renewEveryMs: number;
  /** Longest wait for one response of the store before the attempt counts as failed. */
  readonly stepMs: number;
  /** Longest time a request waits for its facts. */
  readonly settleMs: number;
  /** Pause after a failed renewal: doubles from the first to the longest. */
  readonly retryFirstMs: number;
  readonly retryLongestMs: number;
}

/** @param leaseMs T, from the configuration */
export function timingFor(leaseMs: number): Timing {
  // Quartz differs by less than 0.1 ms a second; a thirtieth of T forgives a clock that is 300 times worse.
  const guardMs = Math.max(5, leaseMs / 30);
  return {
    leaseMs,
    marginMs: guardMs,
    epsilonMs: guardMs,
    renewEveryMs: leaseMs / 4,
    stepMs: Math.max(250, leaseMs / 2),
    settleMs: Math.max(500, leaseMs),
    retryFirstMs: 25,
    retryLongestMs: 500,
  };
}
