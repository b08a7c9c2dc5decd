/** Constants of the arithmetic; the simulation behind them is in `docs/decisions/rate-limits.md`. */
export const tuning = {
  /** Capacity of a shared bucket beyond its burst, in seconds of its rate: reports on their way between replicas. */
  slackS: 0.22,
  /**
   * First portion for a limit without recent requests here: seconds of its rate, and part of its burst, over all
   * replicas.
   */
  unknownS: 0.2,
  unknownBurst: 0.05,
  /** Part of its share of the remaining tokens that a replica holds; the rest is for replicas with growing demand. */
  held: 0.5,
  /** Milliseconds until a changed demand is believed. */
  demandMs: 200,
  /**
   * Part of the rate, divided among the replicas, that is added to each demand: a replica with few requests has
   * something to begin with.
   */
  leastDemand: 0.02,
  /** Milliseconds after which a report says nothing about demand: its replica is gone or cut off. */
  freshMs: 1_000,
  /** Seconds in which requests beyond the limit are taken back. */
  paybackS: 1,
  /** Most seconds of the rate that are taken back: only a fault exceeds it, and a tenant should not pay for a fault. */
  mostDebtS: 0.4,
  /** Milliseconds after which a silent replica has no part in anything. */
  forgottenMs: 120_000,
  /** Part of the rate that is given even while requests are taken back. */
  least: 0.1,
  /** Most that all replicas together admit, as a multiple of the rate, while some are cut off from the store. */
  mostShares: 1.5,
  /** Requests a second that each replica admits at least while it cannot hear from the others. */
  leastAlone: 0.1,
} as const;

/** Knowledge of a replica about the others. */
export interface Fleet {
  /** Replicas that decide, this one included; at least 1. */
  readonly replicas: number;
  /** Whether this replica cannot hear from the others. */
  readonly degraded: boolean;
  /** Milliseconds for which a report counts as present: longer if a round of exchanges takes longer. */
  readonly freshMs: number;
  /** Whether a replica still decides, as far as known. */
  has(replica: string): boolean;
}
