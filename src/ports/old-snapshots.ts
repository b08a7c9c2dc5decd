/** What keeps dead versions of rows in the store: none that was alive after it began can be cleared away. */
export interface SnapshotHolder {
  readonly kind: 'session' | 'replication slot' | 'prepared transaction';
  /** Of a session its process id. */
  readonly name: string;
  readonly user: string | null;
  /** What a session says it is, such as `pg_dump`. */
  readonly application: string | null;
  /** Milliseconds since its transaction began; `null` where the role of the gateway may not see that. */
  readonly ageMs: number | null;
  /** The oldest transaction that it keeps the traces of. */
  readonly transaction: number;
}

/** One look at what keeps dead versions. */
export interface SnapshotReading {
  /** The transaction that is next. They are numbered in order, as long as this is one database. */
  readonly nextTransaction: number;
  /** Whether this was the replica that looks; the others are told the next transaction and nothing more. */
  readonly looked: boolean;
  /** The one that goes back furthest; `null` where nothing does. */
  readonly oldest: SnapshotHolder | null;
}

/** Old snapshots in the store, for operators to know of. */
export interface OldSnapshots {
  /**
   * Rejects with `unavailable` where the store cannot be asked.
   * @param replica who asks; only one of the registered ones looks
   */
  read(replica: string): Promise<SnapshotReading>;
}
