import type { Seq } from './facts.ts';

/** What a replica reports about itself for operators; no decision depends on it. */
export interface ReplicaNote {
  readonly version: string;
  /** Name of its machine or pod. */
  readonly host: string;
}

/** A replica as operators see it. */
export interface ListedReplica {
  readonly id: string;
  readonly leaseMs: number;
  /** Milliseconds since it last renewed its lease, by the store's clock. */
  readonly ageMs: number;
  /** Position up to which it has confirmed. */
  readonly applied: Seq;
  /** `null` for replicas of earlier versions. */
  readonly version: string | null;
  readonly host: string | null;
  /** It drains, and removes its row when it ends. */
  readonly leaving: boolean;
}

/** Every registered replica and the newest position, of one snapshot. */
export interface ReplicaListReading {
  readonly seq: Seq;
  readonly incarnation: string;
  /** Whether the rows hold every replica: for a while after a restore they may not. */
  readonly complete: boolean;
  readonly entries: readonly ListedReplica[];
}

/** The replicas that decide, for operators to look at. The protocol has its own reading (`coherence-log.ts`). */
export interface ReplicaList {
  /** Rejects with `unavailable` where the store cannot be asked. */
  read(): Promise<ReplicaListReading>;
}
