import type { FactKey, FactValue, Seq } from './facts.ts';

/**
 * A fact's value with its stamp: the position and incarnation at which the value was read. The stamp determines whether
 * the value may be used.
 */
export interface StampedFact {
  readonly value: FactValue;
  readonly seq: Seq;
  readonly incarnation: string;
}

/**
 * A cache in Redis that all replicas share. The cache may lose, delay or resurrect values and is never authoritative.
 * Methods never reject: an unreachable cache counts as empty.
 */
export interface FactCache {
  get(keys: readonly FactKey[]): Promise<ReadonlyMap<FactKey, StampedFact>>;
  set(facts: ReadonlyMap<FactKey, StampedFact>): void;
  /** Removes facts. Replicas that read them earlier may still write them again. Absent if nothing is ever held. */
  forget?(keys: readonly FactKey[]): void;
}
