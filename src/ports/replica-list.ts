import type { Seq } from './facts.ts';

/** What a replica says of itself for operators; nothing is decided by it. */
export interface ReplicaNote {
  readonly version: string;
  /** Name of its machine or pod. */
  readonly host: string;
}

/** A replica as operators see it. */
export interface RosterEntry {
  readonly id: string;
  readonly leaseMs: number;
  /** Milliseconds since it last renewed its lease, by the store's clock. */
  readonly ageMs: number;
  /** Position up to which it has confirmed. */
  readonly applied: Seq;
  /** Not known of replicas of earlier versions. */
  readonly version: string | null;
  readonly host: string | null;
  /** It drains, and takes its row away when it ends. */
  readonly leaving: boolean;
}

/** Every registered replica and the newest position, of one snapshot. */
export interface RosterReading {
  readonly seq: Seq;
  readonly incarnation: string;
  /** Whether the rows have everybody: for a while after a restore they may not. */
  readonly complete: boolean;
  readonly entries: readonly RosterEntry[];
}

/** Who decides, for people to look at. The protocol has its own reading (`coherence-log.ts`). */
export interface Roster {
  /** Rejects with `unavailable` where the store cannot be asked. */
  read(): Promise<RosterReading>;
}
