/** A replica's report on one limit. Each report is complete, so that the next one makes up for a lost one. */
export interface LimitReport {
  /** Kind and id of the limit, such as `sub_account:0198…`. */
  readonly limit: string;
  /** Number that changes when this replica forgets the limit: `used` then restarts at 0. */
  readonly series: number;
  /** Requests that it has admitted. */
  readonly used: number;
  /** Requests a second that it receives, admitted or not; 0 if none come any more. */
  readonly demand: number;
  /** Level of the bucket over all replicas, as this replica knows it; negative if too many requests were admitted. */
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
  /** Current time by the board's clock, milliseconds. Only differences are used. */
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
   * Replaces this replica's reports on these limits, and returns other replicas' reports on the same limits. Rejects
   * if no report could be exchanged in time, or, with no reports, if the board cannot be reached at all.
   */
  exchange(replica: string, reports: readonly LimitReport[]): Promise<BoardReading>;
}
