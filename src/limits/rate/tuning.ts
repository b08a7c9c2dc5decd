/** How the arithmetic is tuned; the simulation that these come from is in `docs/decisions/rate-limits.md`. */
export const tuning = {
  /** What the bucket holds beyond its burst where replicas share it, in seconds of its rate: what is on its way between them. */
  slackS: 0.22,
  /** What a replica gives at once of a limit that it has not asked about lately: seconds of its rate, and part of its burst, over all replicas. */
  unknownS: 0.2,
  unknownBurst: 0.05,
  /** Of its share of what is left a replica holds this part; the other part is for those whose demand grows. */
  held: 0.5,
  /** In which a demand that changed is believed. */
  demandMs: 200,
  /** So much of the rate, divided among the replicas, is added to each demand: a replica that is hardly asked has something to begin with. */
  leastDemand: 0.02,
  /** A report that is older says nothing about demand: its replica is gone, or cut off. */
  freshMs: 1_000,
  /** What was let through beyond the limit is taken back in this time. */
  paybackS: 1,
  /** More than these seconds of the rate are not taken back: only a fault leads there, and a tenant is not to pay for it. */
  mostDebtS: 0.4,
  /** After this a replica that is not heard of has no part in anything. */
  forgottenMs: 120_000,
  /** While it is taken back, this part of the rate is given all the same. */
  least: 0.1,
  /** All that the replicas let through together, at most, while some of them are cut off from the store. */
  mostShares: 1.5,
  /** Requests a second that each replica lets through at least while it cannot hear of the others. */
  leastAlone: 0.1,
} as const;

/** What a replica knows of the others. */
export interface Fleet {
  /** Replicas that decide, this one included; at least 1. */
  readonly replicas: number;
  /** Whether this one cannot hear of the others. */
  readonly degraded: boolean;
  /** Milliseconds for which a report says what its replica does now: longer where a round of exchanges takes longer. */
  readonly freshMs: number;
  /** Whether a replica still decides, as far as is known. */
  has(replica: string): boolean;
}
