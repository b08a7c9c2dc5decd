/**
 * The protocol's durations, in milliseconds. This file derives all of them except `proveMs` from the lease duration.
 * Only the lease duration is configured (`coherence.lease_ms`). A table in `docs/coherence.md` lists the durations.
 */
export interface Timing {
  /**
   * The lease duration: how long a replica may decide after the start of a renewal. At intervals of this length, a
   * replica also reads the rows of all replicas to find those that have timed out.
   */
  readonly leaseMs: number;
  /**
   * By its own clock, a replica stops deciding this many milliseconds before its lease ends, because other clocks may
   * be faster.
   */
  readonly marginMs: number;
  /**
   * How long streams may outlive the lease, at least until other clocks are taken into account
   * (`coherence.streams_outlive_lease_s`). Registered beside the lease duration.
   */
  readonly streamsMs: number;
  /**
   * How much longer than decisions bytes may pass for a key, by this replica's clock: until {@link streamsMs} after the
   * end of its lease, less the margin of both durations together.
   */
  readonly passMs: number;
  /** Returns how long a replica waits for another replica's lease and streams to end; see {@link leaseWaitMs}. */
  readonly leaseWaitMs: (reachMs: number) => number;
  /**
   * Milliseconds between the starts of two renewals, short enough to retry a failed renewal before the lease runs out.
   */
  readonly renewEveryMs: number;
  /** Deadline for lease statements and for statements that read facts; see {@link storeMsFor}. */
  readonly storeMs: number;
  /**
   * Maximum time that a request waits for a fact: twice `storeMs`, because another statement may have to end before
   * the request's own statement begins.
   */
  readonly lookUpMs: number;
  /**
   * Time within which every fact in memory is reread, by this replica's clock. It does not depend on the lease
   * duration.
   */
  readonly proveMs: number;
}

/**
 * Eight minutes. The gateway promises to reread every fact within ten minutes, even if the clock is off by a tenth and
 * the store causes delays.
 */
const proveMs = 480_000;

/**
 * Derives all durations from the two that are configured, in milliseconds.
 * @param streamsMs see {@link Timing.streamsMs}
 * @param storeMs deadline with which the store was opened
 */
export function timingFor(leaseMs: number, streamsMs = 0, storeMs = storeMsFor(leaseMs)): Timing {
  const marginMs = marginMsOf(leaseMs);
  return {
    leaseMs,
    marginMs,
    streamsMs,
    passMs: streamsMs + marginMs - marginMsOf(leaseMs + streamsMs),
    leaseWaitMs,
    renewEveryMs: leaseMs / 4,
    storeMs,
    lookUpMs: 2 * storeMs,
    proveMs,
  };
}

/**
 * Returns the deadline, in milliseconds, for each lease statement and each statement that reads facts, including the
 * time to get a connection. The store is opened with this deadline and enforces it (`CoherenceLog`, `FactSource`), so
 * its callers set no timeouts of their own.
 *
 * The deadline is half the lease duration, within bounds. A renewal begins with three quarters of the lease left, so a
 * dead connection is replaced while the lease is still running. The lower bound leaves enough time to connect to a busy
 * server. The upper bound keeps requests from waiting more than a few seconds for a server that does not respond.
 */
export function storeMsFor(leaseMs: number): number {
  return Math.min(Math.max(500, leaseMs / 2), 1_500);
}

/**
 * Returns how long a replica has to wait for another replica's lease and streams to end, in milliseconds of the waiting
 * replica's clock. They end by the other replica's clock. The longer they last, the further the two clocks can drift
 * apart by their end. So the wait exceeds them by a margin that grows with them. The waiting replica's own lease does
 * not matter. A replica that waits for several others waits for the longest.
 *
 * @param reachMs what the other replica has registered: its lease duration and how long its streams outlive the lease
 */
export function leaseWaitMs(reachMs: number): number {
  return reachMs + marginMsOf(reachMs);
}

/**
 * Returns the margin g, in milliseconds, for a lease of duration T: a replica stops deciding g before its lease ends,
 * and other replicas wait g longer than the lease. The replica decides for T - g by a clock that runs at rate a, and
 * the others wait T + g by a clock that runs at rate b. This is safe as long as b / a <= (T + g) / (T - g). If g is a
 * tenth of T, the right-hand side is 11 / 9, so both clocks may be off by 10 %, in opposite directions. By default,
 * chrony adjusts a clock's rate by at most 8.3 %.
 */
function marginMsOf(leaseMs: number): number {
  return Math.max(5, leaseMs / 10);
}

/**
 * Returns the minimum number of milliseconds between the starts of two passes over the log, if the second pass follows
 * a hint of new log entries. A pass costs the store about the same for one change as for many. The passes of many
 * replicas could overload the store, so the minimum grows with the number of replicas. With few replicas it is 0.
 *
 * @param replicas number of registered replicas
 */
export function passPaceMs(replicas: number): number {
  return replicas < fewReplicas ? 0 : replicas * pacePerReplicaMs;
}

const fewReplicas = 20;
/** Milliseconds per registered replica: with 200 replicas, the passes of each replica start at least 20 ms apart. */
const pacePerReplicaMs = 0.1;

/**
 * Pauses after failed renewals, in milliseconds. Each pause is twice as long as the one before, from `firstMs` up to
 * `longestMs`. The pauses stay short even if leases are long, because the store may be back at any time.
 */
export const retryPauses = { firstMs: 25, longestMs: 500 };
