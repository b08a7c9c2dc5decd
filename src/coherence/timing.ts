/**
 * All durations of the protocol, in milliseconds. All except `proveMs` are derived from T, the only configured one
 * (`coherence.lease_ms`), in this file and nowhere else. The table in `docs/coherence.md` lists them.
 */
export interface Timing {
  /**
   * T: how long a replica may decide after the start of a renewal. Every T, a replica also reads the rows of all
   * replicas to find those that timed out.
   */
  readonly leaseMs: number;
  /** A replica stops deciding this many milliseconds before T, by its own clock, because other clocks may be faster. */
  readonly marginMs: number;
  /** Returns how long a replica waits for the end of another replica's lease; see {@link leaseWaitMs}. */
  readonly leaseWaitMs: (leaseMs: number) => number;
  /**
   * Milliseconds between the starts of two renewals, short enough to repeat a failed renewal before the lease runs out.
   */
  readonly renewEveryMs: number;
  /** Deadline of the lease's statements and of statements that read facts; see {@link storeMsFor}. */
  readonly storeMs: number;
  /**
   * Maximum time that a request waits for a fact: first for the statement that is running when the request arrives,
   * then for its own statement.
   */
  readonly lookUpMs: number;
  /** Time within which every fact in memory is read again, by this replica's clock. It does not depend on T. */
  readonly proveMs: number;
}

/** Eight minutes, which stay below ten even if the clock is wrong by a tenth and the store causes delays. */
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
 * Returns the deadline, in milliseconds, of each statement of the lease and of each statement that reads facts. The
 * deadline includes the time to get a connection. The store is opened with this deadline and enforces it
 * (`CoherenceLog`, `FactSource`), so callers of the store set no timeout of their own.
 *
 * It is half of T, within bounds. A renewal begins with three quarters of the lease left, so a connection that went
 * silent is replaced while the lease still runs. The lower bound leaves enough time to connect to a busy server. The
 * upper bound keeps a request from waiting for a silent server for more than a few seconds.
 */
export function storeMsFor(leaseMs: number): number {
  return Math.min(Math.max(500, leaseMs / 2), 1_500);
}

/**
 * Returns how many milliseconds a replica waits, by its own clock, until another replica's lease has ended by any
 * clock. The wait depends only on the length of that lease, not on the lease of the replica that waits: the longer a
 * lease, the further two clocks have drifted apart at its end. A wait for the longest lease is long enough for all
 * others.
 *
 * @param leaseMs T of the other lease, as registered
 */
export function leaseWaitMs(leaseMs: number): number {
  return leaseMs + marginMsOf(leaseMs);
}

/**
 * Returns the margin g, in milliseconds: a replica stops deciding g before its lease ends, and other replicas wait g
 * longer than the lease. The replica decides for T - g on a clock of rate a, and the others wait T + g on a clock of
 * rate b. This is safe while b / a <= (T + g) / (T - g). If g is a tenth of T, that limit is 11 / 9, so both clocks may
 * be wrong by 10 %, in opposite directions. By default, chrony changes the rate of a clock by at most 8.3 %.
 */
function marginMsOf(leaseMs: number): number {
  return Math.max(5, leaseMs / 10);
}

/**
 * Returns the minimum time between the starts of two passes, in milliseconds, if hints of new log entries cause them. A
 * pass costs the store about the same for one change as for many. The passes of many replicas could overload the store,
 * so the time grows with the number of replicas. With few replicas it is 0.
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
 * Pauses after failed renewals, in milliseconds. They double from the first to the longest, and do not depend on T,
 * because the store may be back at any time.
 */
export const retryPauses = { firstMs: 25, longestMs: 500 };
