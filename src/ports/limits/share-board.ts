/** A replica's report on one limit. Each report is complete, so that the next one makes up for a lost one. */
export interface LimitReport {
  /** Kind and id of the limit, such as `sub_account:0198…`. */
  readonly limit: string;
  /** Number that changes when this replica forgets the limit: `used` then restarts at 0. */
  readonly series: number;
  /** Requests that it has admitted. */
  readonly used: number;
  /** Requests a second that it receives, admitted or not; 0 if there are none any more. */
  readonly demand: number;
  /** Level of the bucket over all replicas as it knows it; negative if too many requests were admitted. */
  readonly level: number;
  /** Fraction of the rate that it admits, 0 to 1. */
  readonly share: number;
}

/** A report of another replica. */
export interface PeerReport extends LimitReport {
  readonly replica: string;
  /** Milliseconds since the report was written, by the board's clock. */
  readonly ageMs: number;
}

/** Contents of the board. */
export interface BoardReading {
  /** Present time of the board, milliseconds. Only differences are used. */
  readonly nowMs: number;
  readonly peers: readonly PeerReport[];
  /** Limits whose reports could not be exchanged because only a part of the board could be reached. */
  readonly unheard?: ReadonlySet<string>;
}

/**
 * Board on which replicas read each other's reports about limits. It may lose reports, even all at once, and forgets them after
 * some minutes. It decides nothing: each replica computes its share from the reports.
 */
export interface ShareBoard {
  /**
   * Replaces this replica's reports on these limits, and returns those of other replicas on the same limits. Rejects if the
   * board cannot be reached in time for any of them; with no reports, if it cannot be reached at all.
   */
  exchange(replica: string, reports: readonly LimitReport[]): Promise<BoardReading>;
}
