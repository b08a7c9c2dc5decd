import type { Seq } from './facts.ts';
import type { ReportedFigures } from './replica-figures.ts';

/** A replica's note about itself for operators; no decision depends on it. */
export interface ReplicaNote {
  readonly version: string;
  /** Name of the replica's machine or pod. */
  readonly host: string;
}

/** A replica as operators see it. */
export interface ListedReplica {
  readonly id: string;
  readonly leaseMs: number;
  /** Milliseconds since the replica last renewed its lease, by the store's clock. */
  readonly ageMs: number;
  /** Log position that the replica has confirmed. */
  readonly applied: Seq;
  /** `null` for replicas of earlier versions. */
  readonly version: string | null;
  readonly host: string | null;
  /**
   * Milliseconds by which the replica's wall clock is ahead of the store's, to a tenth of a second; `null` for replicas
   * of earlier versions.
   */
  readonly clockAheadMs: number | null;
  /** Whether the replica is draining. It removes its row when it shuts down. */
  readonly leaving: boolean;
  /**
   * Figures that the replica reported within the last minute; `null` if there are none, as for replicas of earlier
   * versions.
   */
  readonly figures: ReportedFigures | null;
}

/** Every registered replica and the newest position, in one snapshot. */
export interface ReplicaListReading {
  readonly seq: Seq;
  readonly incarnation: string;
  /** Whether `entries` holds every replica. After a restore, replicas may be missing for a while. */
  readonly complete: boolean;
  readonly entries: readonly ListedReplica[];
}

/** List of replicas for operators. The coherence protocol reads replicas separately (`coherence-log.ts`). */
export interface ReplicaList {
  /** Rejects with `unavailable` if the store cannot be reached. */
  read(): Promise<ReplicaListReading>;
}
