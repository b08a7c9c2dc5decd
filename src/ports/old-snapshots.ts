/**
 * A holder of an old snapshot. While it holds the snapshot, the database cannot remove row versions that were replaced
 * or deleted after the snapshot began.
 */
export interface SnapshotHolder {
  readonly kind: 'session' | 'replication slot' | 'prepared transaction';
  /** Name of the holder; for a session, its process id. */
  readonly name: string;
  readonly user: string | null;
  /** Application name of a session, such as `pg_dump`. */
  readonly application: string | null;
  /**
   * Milliseconds since the holder's transaction began; `null` if it has none or the gateway's role may not see its
   * start.
   */
  readonly ageMs: number | null;
  /** Number of the oldest transaction whose row versions the holder keeps. */
  readonly transaction: number;
}

/** Result of one look for old snapshots. */
export interface SnapshotReading {
  /** Number of the next transaction. Numbers ascend within one database. */
  readonly nextTransaction: number;
  /** Whether this replica is the one that looks; others get only `nextTransaction`. */
  readonly looked: boolean;
  /** Holder of the oldest snapshot; `null` if there is none. */
  readonly oldest: SnapshotHolder | null;
}

/** Old snapshots in the store, for operators. */
export interface OldSnapshots {
  /**
   * Finds the holder of the oldest snapshot. Rejects with `unavailable` if the store cannot be reached.
   *
   * @param replica id of the calling replica; only one of the registered replicas looks
   */
  read(replica: string): Promise<SnapshotReading>;
}
