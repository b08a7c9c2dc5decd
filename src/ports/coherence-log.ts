import type { FactKey, Seq } from './facts.ts';
import type { ReplicaNote } from './replica-list.ts';

/** A replica's registration row. */
export interface ReplicaRow {
  readonly id: string;
  readonly nonce: string;
  readonly acked: Seq;
  readonly leaseMs: number;
  /** How many milliseconds streams may outlive the lease. */
  readonly streamsMs: number;
  /** Number of exchanges that the replica ended because of the entries that it last confirmed. */
  readonly streamsClosed: number;
  /**
   * Milliseconds since the replica last renewed its lease, by the store's clock. Receipts use this age, but no decision
   * depends on it.
   */
  readonly ageMs: number;
}

/** The record that a replica writes on every lease renewal. */
export interface ReplicaRegistration extends Pick<ReplicaRow, 'id' | 'nonce' | 'leaseMs' | 'streamsMs'> {
  /** Note for operators; no decision depends on it. */
  readonly note?: (ReplicaNote & { readonly leaving: boolean }) | undefined;
  /** Milliseconds by which the replica's wall clock is ahead of the store's, for operators; `null` if unknown. */
  readonly clockAheadMs?: number | null;
}

/** Returns how many milliseconds after the start of a renewal something may still hang on it, by perfect clocks. */
export function reachMs({ leaseMs, streamsMs }: Pick<ReplicaRow, 'leaseMs' | 'streamsMs'>): number {
  return leaseMs + streamsMs;
}

/** Result of a renewal. */
export interface Renewed {
  /**
   * Position that the replica's row showed as confirmed; 0 if there was no row. If a store crash has undone a
   * confirmation, this position is lower than the one that the replica confirmed.
   */
  readonly acked: Seq;
  /** Time on the store's clock, read after the call was made; milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * A change to a fact. A `key` that begins with `q:` does not name a fact: it says that an account or a plan was given a
 * quota.
 */
export interface LogEntry {
  readonly seq: Seq;
  readonly key: FactKey;
  /**
   * Whether the fact may permit less than before. If so, exchanges that depend on the fact must end before this replica
   * confirms the change.
   */
  readonly revoked: boolean;
}

/**
 * A page of the log, read in one snapshot. For each fact, the log keeps only the latest change and the latest
 * revocation, which may be the same entry. A page that ends before {@link seq} may lack a change, because a change
 * after the page has replaced it. The changes are complete only once all pages up to `seq` have been read.
 */
export interface LogReading {
  /**
   * Name of the log's history. A promoted, restored or copied database has a new history. The first lease renewal on
   * that database gives the history its name.
   */
  readonly incarnation: string;
  /** Newest committed position. */
  readonly seq: Seq;
  /** Position at which the page ends: {@link seq}, or lower if more entries follow. */
  readonly through: Seq;
  /** Position from which the log is complete. Entries before it were pruned or, by a new replica, skipped. */
  readonly floor: Seq;
  /** Entries after the requested position, in order. */
  readonly entries: readonly LogEntry[];
}

/** The registered replicas, read in one snapshot. */
export interface ReplicaReading {
  readonly incarnation: string;
  /**
   * Whether `rows` holds every replica that may have a lease, as recorded by {@link CoherenceLog.noteComplete}. A
   * restored or copied database, or a promoted standby, may lack leases granted earlier.
   */
  readonly complete: boolean;
  readonly seq: Seq;
  readonly rows: readonly ReplicaRow[];
}

/** Which entries {@link CoherenceLog.prune} deletes. */
export interface PrunePortion {
  readonly incarnation: string;
  readonly before: Seq;
  readonly most: number;
}

/**
 * The coherence tables (`docs/maintainers/coherence.md`), over a PostgreSQL connection of their own.
 *
 * Every call settles by a deadline, which `storeMsFor` derives from the lease duration. A call that is still running at
 * the deadline rejects. A rejected call may still take effect later.
 */
export interface CoherenceLog {
  /**
   * Durably commits a replica's registration, which grants the lease. If the history has no name yet, it is named
   * first; see {@link LogReading.incarnation}.
   */
  register(replica: ReplicaRegistration): Promise<Renewed>;
  /**
   * Reads the log after position `after`, in a snapshot taken after the call.
   *
   * @param after `null` for a new replica, which reads only the last `most` positions, from {@link LogReading.floor} on
   * @param most maximum number of entries; may be exceeded, because a page never splits a position
   */
  readAfter(after: Seq | null, most: number): Promise<LogReading>;
  /**
   * Confirms that this replica no longer decides from facts older than `seq`. A delayed call never undoes a newer
   * confirmation, but a store crash may undo a confirmation.
   */
  ack(id: string, seq: Seq, streamsClosed: number): Promise<void>;
  /** Reads every registered replica and the newest position, in one snapshot taken after the call. */
  replicas(): Promise<ReplicaReading>;
  /**
   * Durably records that every lease of an earlier incarnation has run out. {@link ReplicaReading.complete} is true
   * from then on. Does nothing if `incarnation` is not the current one.
   */
  noteComplete(incarnation: string): Promise<void>;
  /** Deletes the row of a replica that has shut down or timed out, if its nonce is unchanged. */
  removeReplica(id: string, nonce: string): Promise<void>;
  /**
   * Deletes about `most` entries below the position `before`, oldest first. Does nothing if `incarnation` is not the
   * current one, or while another replica is pruning. Resolves to whether there may be more.
   */
  prune(portion: PrunePortion): Promise<boolean>;
  /** Calls `listener` when there may be a new entry. The call may come late, twice or never. */
  onHint(listener: () => void): void;
}
