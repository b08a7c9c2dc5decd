/**
 * All durations of the protocol, in milliseconds. They are derived from T, the only configured one
 * (`coherence.lease_ms`), in this file and nowhere else. The table in `docs/coherence.md` lists them.
 */
export interface Timing {
  /**
   * T: how long a replica may decide after it began to renew. Every T, a replica also reads the rows of all replicas
   * to find those that timed out.
   */
  readonly leaseMs: number;
  /** A replica stops deciding this many milliseconds before T, by its own clock, because other clocks may be faster. */
  readonly marginMs: number;
  /** See {@link leaseWaitMs}. */
  readonly leaseWaitMs: (leaseMs: number) => number;
  /**
   * Milliseconds between the starts of two renewals: few enough to repeat a failed renewal before the lease runs out.
   */
  readonly renewEveryMs: number;
  /** See {@link storeMsFor}. */
  readonly storeMs: number;
  /**
   * Longest time that a request waits for a fact: the statement already running when it arrives, then its own
   * statement.
   */
  readonly lookUpMs: number;
  /** Time within which every fact in memory is read again, by this replica's clock. It does not depend on T. */
  readonly proveMs: number;
}

/** Eight minutes. They stay below ten minutes even if the clock is wrong by a tenth and the store causes delays. */
const proveMs = 480_000;

/** @param leaseMs T, from the configuration */
export function timingFor(leaseMs: number): Timing {
  const storeMs = storeMsFor(leaseMs);
  return {
    leaseMs,
    marginMs: marginMsOf(leaseMs),
    leaseWaitMs,
    renewEveryMs: leaseMs / 4,
    storeMs,
    lookUpMs: 2 * storeMs,
    proveMs,
  };
}

/**
 * Returns the deadline, in milliseconds, of each statement of the lease and of each statement that reads facts. It
 * includes the time to get a connection. The store gets it when it is opened and enforces it (`CoherenceLog`,
 * `FactSource`), so its callers set no second timeout.
 *
 * Half of T: a renewal begins with three quarters of the lease left, so a connection that went silent is replaced while
 * the lease still runs. The deadline is never too short to connect to a busy server, nor so long that a request waits
 * for a silent server for more than a few seconds.
 */
export function storeMsFor(leaseMs: number): number {
  return Math.min(Math.max(500, leaseMs / 2), 1_500);
}

/**
 * Returns how many milliseconds a replica waits, by its own clock, until another replica's lease has ended by any
 * clock. It depends only on the length of that lease, not on the lease of the replica that waits: the longer a lease,
 * the further two clocks have drifted apart when it ends. It grows with the lease, so a wait for the longest lease
 * covers all others.
 *
 * @param leaseMs T of the other lease, as registered
 */
export function leaseWaitMs(leaseMs: number): number {
  return leaseMs + marginMsOf(leaseMs);
}

/**
 * Returns the margin g: a replica stops deciding g before its lease ends, and others wait g longer than that lease. A
 * lease runs T - g on a clock of rate a, others wait T + g on a clock of rate b: safe while b / a <= (T + g) / (T - g).
 * With a tenth of T that is 11 / 9, so both clocks may be wrong by 10 %, in opposite directions; chrony slews by 8.3 %
 * at most unless told otherwise.
 */
function marginMsOf(leaseMs: number): number {
  return Math.max(5, leaseMs / 10);
}

/**
 * Returns the least number of milliseconds between the starts of two passes that hints cause. A pass costs the store
 * about the same for one change as for many. So with many replicas it is the number of passes that overloads the store,
 * not the number of changes. With few replicas there is no pause.
 *
 * @param replicas number of registered replicas
 */
export function passPaceMs(replicas: number): number {
  return replicas < fewReplicas ? 0 : replicas * pacePerReplicaMs;
}

const fewReplicas = 20;
/** 20 ms for 200 replicas. */
const pacePerReplicaMs = 0.1;

/**
 * Pauses after failed renewals double from the first to the longest. They do not depend on T, because the store may be
 * back at any time.
 */
export const retryPauses = { firstMs: 25, longestMs: 500 };
