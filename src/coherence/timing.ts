/**
 * All durations of the protocol, in milliseconds: derived from T, the only configured one (`coherence.lease_ms`), here
 * and nowhere else. The table in `docs/coherence.md` lists them.
 */
export interface Timing {
  /**
   * T: how long a replica may decide after it began to renew. Every T, a replica also reads the rows of all replicas
   * to find those that timed out.
   */
  readonly leaseMs: number;
  /** Milliseconds before T at which a replica stops deciding, by its own clock: other clocks may be faster. */
  readonly marginMs: number;
  /** See {@link leaseWaitMs}. */
  readonly leaseWaitMs: (leaseMs: number) => number;
  /**
   * Milliseconds between the starts of two renewals. They leave time to repeat a failed one before the lease runs
   * out.
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

/** Eight minutes: with a clock that is wrong by a tenth, and with delays by the store, they stay within ten. */
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
 * Deadline of each statement of the lease and of each that reads facts, including the time to get a connection. The
 * store is opened with it and keeps it (`CoherenceLog`, `FactSource`): its calls have no second timeout.
 *
 * Half of T: a renewal begins with three quarters of the lease left, so a connection that went silent is replaced while
 * the lease still runs. It is never too short to connect to a busy server, nor so long that a request waits for a
 * silent one for more than a few seconds.
 */
export function storeMsFor(leaseMs: number): number {
  return Math.min(Math.max(500, leaseMs / 2), 1_500);
}

/**
 * Time that a replica waits, by its own clock, until another replica's lease has ended by any clock, in milliseconds.
 * It depends only on the length of that lease, not on the lease of the replica that waits: the longer a lease, the
 * further two clocks have drifted apart when it ends. It grows with the lease, so a wait for the longest covers all.
 *
 * @param leaseMs T of the other lease, as registered
 */
export function leaseWaitMs(leaseMs: number): number {
  return leaseMs + marginMsOf(leaseMs);
}

/**
 * Margin g: a replica takes it off its lease, and others wait for it in addition. A lease runs T - g on a clock of rate
 * a, others wait T + g on a clock of rate b: safe while b / a <= (T + g) / (T - g). With a tenth of T that is 11 / 9,
 * so both clocks may be wrong by 10 %, in opposite directions; chrony slews by 8.3 % at most unless told otherwise.
 */
function marginMsOf(leaseMs: number): number {
  return Math.max(5, leaseMs / 10);
}

/**
 * Milliseconds between passes that hints cause. Each pass costs the store about the same and takes in all changes since
 * the last; so with many replicas the store runs out of passes, not of changes. Few replicas have no pause.
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
