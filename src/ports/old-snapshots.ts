/** A holder of an old snapshot: row versions that died after the snapshot began cannot be removed. */
export interface SnapshotHolder {
  readonly kind: 'session' | 'replication slot' | 'prepared transaction';
  /** Name of the holder; of a session, its process id. */
  readonly name: string;
  readonly user: string | null;
  /** Application name of a session, such as `pg_dump`. */
  readonly application: string | null;
  /** Milliseconds since its transaction began; `null` if the role of the gateway may not see that. */
  readonly ageMs: number | null;
  /** Oldest transaction whose row versions it keeps. */
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
   * Rejects with `unavailable` if the store cannot be reached.
   * @param replica id of the calling replica; only one of the registered replicas looks
   */
  read(replica: string): Promise<SnapshotReading>;
}
