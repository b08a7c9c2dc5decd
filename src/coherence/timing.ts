/**
 * Everything that takes a while in the protocol, in milliseconds: derived from T, the one duration that is configured
 * (`coherence.lease_ms`), here and nowhere else. The table in `docs/coherence.md` says the same.
 */
export interface Timing {
  /**
   * T: how long a replica may decide after it began to renew. It reads the rows of all replicas as often, to find those
   * that timed out.
   */
  readonly leaseMs: number;
  /** How much earlier than T a replica stops deciding, by its own clock: others may have a faster one. */
  readonly marginMs: number;
  /** {@link leaseWaitMs}. */
  readonly leaseWaitMs: (leaseMs: number) => number;
  /** From the beginning of one renewal to that of the next: one that fails can be tried again before the lease has run out. */
  readonly renewEveryMs: number;
  /** {@link storeMsFor}. */
  readonly storeMs: number;
  /** Longest time a request waits for a fact: for a statement that is under way when it comes, and for its own. */
  readonly lookUpMs: number;
  /** Every fact in memory is read again within this time, by this replica's clock. Not of T. */
  readonly proveMs: number;
}

/** Eight minutes by a clock that is wrong by a tenth, and what a pause of the store holds up, are within ten. */
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
 * Deadline of each statement of the lease and of each that reads facts, connecting and waiting for a connection included.
 * The store is opened with it and keeps it (`CoherenceLog`, `FactSource`): there is no second timeout around its calls.
 *
 * Half of T: a renewal begins when three quarters of the lease are left, so a connection that went silent under it is
 * replaced while the lease still runs. Never so short that a busy server cannot be connected to in it, nor so long that a
 * request waits for a silent one for more than a few seconds.
 */
export function storeMsFor(leaseMs: number): number {
  return Math.min(Math.max(500, leaseMs / 2), 1_500);
}

/**
 * How long a replica waits, by its own clock, until a lease of another one has ended by any clock, in milliseconds. It
 * depends on that lease alone, and not on the lease of the replica that waits: the longer a lease, the further two clocks
 * have drifted apart when it ends. It grows with the lease, so waiting for the longest covers all.
 *
 * @param leaseMs T of the lease that is waited for, as registered
 */
export function leaseWaitMs(leaseMs: number): number {
  return leaseMs + marginMsOf(leaseMs);
}

/**
 * What a replica takes off its lease, and what others wait beyond it: g. A lease runs T - g on a clock of rate a, others
 * wait T + g on a clock of rate b: safe while b / a <= (T + g) / (T - g). With a tenth of T that is 11 / 9, so both
 * clocks may be wrong by 10 %, in opposite directions; chrony slews by 8.3 % at most unless told otherwise.
 */
function marginMsOf(leaseMs: number): number {
  return Math.max(5, leaseMs / 10);
}

/**
 * How far apart the passes are that hints cause, in milliseconds. Each pass costs the store about the same, so with many replicas
 * it is passes that give out, not changes: one pass takes in all changes since the last. Few replicas have no pause.
 *
 * @param replicas how many are registered
 */
export function passPaceMs(replicas: number): number {
  return replicas < fewReplicas ? 0 : replicas * pacePerReplicaMs;
}

const fewReplicas = 20;
/** 20 ms for 200 replicas. */
const pacePerReplicaMs = 0.1;

/** Pause after a renewal that failed: doubles from the first to the longest. Not of T: the store may be back at any time. */
export const retryPauses = { firstMs: 25, longestMs: 500 };
