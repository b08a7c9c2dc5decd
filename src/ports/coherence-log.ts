import type { FactKey, Seq } from './facts.ts';
import type { ReplicaNote } from './replica-list.ts';

/** A replica as its row says. */
export interface ReplicaRow {
  readonly id: string;
  readonly nonce: string;
  readonly acked: Seq;
  readonly leaseMs: number;
  /** Streams it ended for what its last acknowledgement took in. */
  readonly streamsClosed: number;
}

/** What a replica says with every renewal. */
export interface ReplicaRegistration extends Pick<ReplicaRow, 'id' | 'nonce' | 'leaseMs'> {
  /** For operators to read; it decides nothing. */
  readonly note?: (ReplicaNote & { readonly leaving: boolean }) | undefined;
}

export interface LogEntry {
  readonly seq: Seq;
  readonly key: FactKey;
  /** The fact changed for the worse: streams that live by it must end before this replica confirms. */
  readonly withdrawn: boolean;
}

/** What one look at the log saw, in one snapshot. */
export interface LogReading {
  readonly incarnation: string;
  /** Newest committed position. */
  readonly seq: Seq;
  /** Oldest position from which on the log is complete: everything ≥ it is still there. */
  readonly floor: Seq;
  /** Entries after the position asked for, in order. */
  readonly entries: readonly LogEntry[];
}

/** What one look at the replicas saw, in one snapshot. */
export interface ReplicaReading {
  readonly incarnation: string;
  /** Whether this incarnation was adopted: see {@link CoherenceLog.adopt}. A database nobody restored is. */
  readonly adopted: boolean;
  readonly seq: Seq;
  readonly rows: readonly ReplicaRow[];
}

/** The coherence tables (`docs/coherence.md`). Implemented over PostgreSQL, on a connection of its own. */
export interface CoherenceLog {
  /** Commits, durably, that this replica lives and with which lease. */
  register(replica: ReplicaRegistration): Promise<void>;
  /** Reads the log after `after`, in a snapshot taken later than the call. */
  readAfter(after: Seq): Promise<LogReading>;
  /** Says that this replica decides by nothing older than `seq`. Never takes back what a later call said. */
  ack(id: string, seq: Seq, streamsClosed: number): Promise<void>;
  /** Every registered replica and the newest position, in one snapshot that is taken later than the call. */
  replicas(): Promise<ReplicaReading>;
  /**
   * Notes, durably, that every lease of an earlier incarnation has run out, so that writers need not wait for
   * leases which the rows no longer show. Nothing happens where `incarnation` is not the present one.
   */
  adopt(incarnation: string): Promise<void>;
  /** Takes a dead replica's row away, if its nonce is still this one. */
  removeReplica(id: string, nonce: string): Promise<void>;
  /** Drops log entries nobody needs. */
  prune(keep: { readonly ageMs: number }): Promise<void>;
  /** Calls `listener` when somebody says there is something new: a hint, it may come late, twice or never. */
  onHint(listener: () => void): void;
}
