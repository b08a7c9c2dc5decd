import type { FactKey, Seq } from './facts.ts';
import type { ReplicaNote } from './replica-list.ts';

/** The row of a replica. */
export interface ReplicaRow {
  readonly id: string;
  readonly nonce: string;
  readonly acked: Seq;
  readonly leaseMs: number;
  /** Streams it ended for the entries of its last acknowledgement. */
  readonly streamsClosed: number;
  /** Milliseconds since it last renewed its lease, by the store's clock: for the receipt, no decision depends on it. */
  readonly ageMs: number;
}

/** What a replica writes with every renewal of its lease. */
export interface ReplicaRegistration extends Pick<ReplicaRow, 'id' | 'nonce' | 'leaseMs'> {
  /** For operators to read; no decision depends on it. */
  readonly note?: (ReplicaNote & { readonly leaving: boolean }) | undefined;
}

/** One change of a fact. */
export interface LogEntry {
  readonly seq: Seq;
  readonly key: FactKey;
  /** The fact no longer permits what it did: streams that depend on it must end before this replica confirms. */
  readonly revoked: boolean;
}

/**
 * What one look at the log saw, in one snapshot. The log keeps the newest change of a fact, and its newest revocation
 * where that is older: so a page that ends before {@link seq} may lack a change that a later one has replaced, and only a
 * reading that goes up to its own `seq` tells everything up to there.
 */
export interface LogReading {
  readonly incarnation: string;
  /** Newest committed position. */
  readonly seq: Seq;
  /** Position up to which the entries go: {@link seq}, or less where there are more to read after it. */
  readonly through: Seq;
  /** Oldest position from which on the log is complete: everything ≥ it is still there. */
  readonly floor: Seq;
  /** Entries after the position asked for, in order. */
  readonly entries: readonly LogEntry[];
}

/** What one look at the replicas saw, in one snapshot. */
export interface ReplicaReading {
  readonly incarnation: string;
  /**
   * Whether `rows` shows every replica that may hold a lease, as {@link CoherenceLog.noteComplete} noted it. A restored or
   * copied database, or a promoted standby, does not show the leases that were given before.
   */
  readonly complete: boolean;
  readonly seq: Seq;
  readonly rows: readonly ReplicaRow[];
}

/** What {@link CoherenceLog.prune} deletes. */
export interface PrunePortion {
  readonly incarnation: string;
  readonly before: Seq;
  readonly most: number;
}

/**
 * The coherence tables (`docs/coherence.md`). Implemented over PostgreSQL, on a connection of its own.
 *
 * Every call settles in time: it rejects after the deadline that the store was opened with, which comes from the lease
 * (`storeMsFor`). What was asked for may still take effect after that.
 */
export interface CoherenceLog {
  /**
   * Commits, durably, that this replica is alive and how long its lease is. Resolves to the position that its row showed as
   * confirmed, 0 where there was none: less than it confirmed where a crash of the store has undone that.
   */
  register(replica: ReplicaRegistration): Promise<Seq>;
  /**
   * Reads the log after `after`, in a snapshot taken later than the call.
   *
   * @param after `null` for a replica that knows nothing yet: it gets the last `most` changes, and a floor to match
   * @param most entries at most, but for the last position, of which all are told
   */
  readAfter(after: Seq | null, most: number): Promise<LogReading>;
  /**
   * Confirms that this replica decides by nothing older than `seq`. A late call never undoes a later one; a crash of the
   * store may.
   */
  ack(id: string, seq: Seq, streamsClosed: number): Promise<void>;
  /** Every registered replica and the newest position, in one snapshot that is taken later than the call. */
  replicas(): Promise<ReplicaReading>;
  /**
   * Notes, durably, that every lease of an earlier incarnation has run out, so that the rows are {@link ReplicaReading.complete}
   * from now on. Nothing happens where `incarnation` is not the present one.
   */
  noteComplete(incarnation: string): Promise<void>;
  /** Deletes a dead replica's row, if its nonce is still this one. */
  removeReplica(id: string, nonce: string): Promise<void>;
  /**
   * Deletes about `most` entries below the position `before`, the oldest first. Nothing happens where `incarnation` is
   * not the present one, or while another replica does it. Resolves to whether there may be more.
   */
  prune(portion: PrunePortion): Promise<boolean>;
  /** Calls `listener` when there may be a new entry: only a hint, which may come late, twice or never. */
  onHint(listener: () => void): void;
}
