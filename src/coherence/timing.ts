/** Durations of the protocol, in milliseconds, all derived from the one that is configured. */
export interface Timing {
  /** T: how long a replica may decide after it began to renew. */
  readonly leaseMs: number;
  /** How much earlier than T a replica stops deciding, by its own clock: others may have a faster one. */
  readonly marginMs: number;
  /** {@link leaseWaitMs}. */
  readonly leaseWaitMs: (leaseMs: number) => number;
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
  return {
    leaseMs,
    marginMs: guardMs(leaseMs),
    leaseWaitMs,
    renewEveryMs: leaseMs / 4,
    stepMs: Math.max(250, leaseMs / 2),
    settleMs: Math.max(500, leaseMs),
    retryFirstMs: 25,
    retryLongestMs: 500,
  };
}

/**
 * How long a replica waits, by its own clock, until a lease of another one has ended by any clock, in milliseconds. It
 * depends on that lease alone, and not on the lease of the replica that waits: the longer a lease, the further two clocks
 * have drifted apart when it ends. It grows with the lease, so waiting for the longest covers all.
 *
 * @param leaseMs T of the lease that is waited for, as registered
 */
export function leaseWaitMs(leaseMs: number): number {
  return leaseMs + guardMs(leaseMs);
}

/**
 * What a replica takes off its lease, and what others wait beyond it. A lease runs T - g on a clock of rate a, others
 * wait T + g on a clock of rate b: safe while b / a <= (T + g) / (T - g). With a tenth of T that is 11 / 9, so both
 * clocks may be wrong by 10 %, in opposite directions; chrony slews by 8.3 % at most unless told otherwise.
 */
function guardMs(leaseMs: number): number {
  return Math.max(5, leaseMs / 10);
}
