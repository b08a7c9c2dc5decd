/** What a replica says of one limit: all of it, so that one that is lost or comes late is made good by the next. */
export interface LimitReport {
  /** The kind and the id, as `sub_account:0198…`. */
  readonly limit: string;
  /** Begins anew when this replica forgets the limit: `used` then counts from 0. */
  readonly series: number;
  /** Requests it has let through. */
  readonly used: number;
  /** Requests a second that it is asked for, let through or not; 0 when it has none any more. */
  readonly demand: number;
  /** What is left in the bucket over all replicas, as far as it knows; negative where too much was let through. */
  readonly level: number;
  /** The part of the rate that it gives away, 0 to 1. */
  readonly share: number;
}

/** The report of another replica. */
export interface PeerReport extends LimitReport {
  readonly replica: string;
  /** Milliseconds since it was given, by the store's clock. */
  readonly ageMs: number;
}

/** What is on the board. */
export interface BoardReading {
  /** The store's clock, milliseconds. Only differences are used. */
  readonly nowMs: number;
  readonly peers: readonly PeerReport[];
  /** Limits of which nothing could be exchanged, where the board could be reached for others only. */
  readonly unheard?: ReadonlySet<string>;
}

/**
 * Where replicas see what others use of a limit. It may lose what it was given, all at once too, and forgets a report after
 * some minutes: nothing is decided there, each replica computes its share from what it reads.
 */
export interface ShareBoard {
  /**
   * Replaces this replica's reports of these limits, and returns those of the other replicas of the same limits.
   * Rejects where the store cannot be reached in time for any of them; with no reports, where it cannot be reached.
   */
  exchange(replica: string, reports: readonly LimitReport[]): Promise<BoardReading>;
}
