/**
 * Something that holds an old snapshot. While it does, the database cannot remove row versions that were replaced or
 * deleted after the snapshot was taken.
 */
export interface SnapshotHolder {
  readonly kind: 'session' | 'replication slot' | 'prepared transaction';
  /** Name of the holder; for a session, its process id. */
  readonly name: string;
  readonly user: string | null;
  /** Application name of a session, such as `pg_dump`. */
  readonly application: string | null;
  /**
   * Milliseconds since the holder's transaction began; `null` if there is no transaction, or if the gateway's role may
   * not see when it began.
   */
  readonly ageMs: number | null;
  /** Id of the oldest transaction whose row versions cannot be removed because of the holder. */
  readonly transaction: number;
}

/** Result of one check for old snapshots. */
export interface SnapshotReading {
  /** Id of the next transaction. Ids ascend within one database. */
  readonly nextTransaction: number;
  /** Whether this replica is the one that checks; the others get only `nextTransaction`. */
  readonly looked: boolean;
  /** Holder of the oldest snapshot; `null` if there is none. */
  readonly oldest: SnapshotHolder | null;
}

/** Old snapshots in the store, for operators. */
export interface OldSnapshots {
  /**
   * Finds the holder of the oldest snapshot. Only one of the registered replicas does this check; the others get
   * `looked: false`. Rejects with `unavailable` if the store cannot be reached.
   *
   * @param replica id of the calling replica
   */
  read(replica: string): Promise<SnapshotReading>;
}
