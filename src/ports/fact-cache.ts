import type { FactKey, FactValue, Seq } from './facts.ts';

/** A value with the position at which it was read, by which readers check it. */
export interface StampedFact {
  readonly value: FactValue;
  readonly seq: Seq;
  readonly incarnation: string;
}

/**
 * A shared cache over Redis. It may lose, delay or resurrect values and is never authoritative. Methods never reject; an
 * unreachable cache is empty.
 */
export interface FactCache {
  get(keys: readonly FactKey[]): Promise<ReadonlyMap<FactKey, StampedFact>>;
  set(facts: ReadonlyMap<FactKey, StampedFact>): void;
}
