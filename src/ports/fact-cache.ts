import type { FactKey, FactValue, Seq } from './facts.ts';

/** A value with the position it was read at; a reader checks it by that. */
export interface StampedFact {
  readonly value: FactValue;
  readonly seq: Seq;
  readonly incarnation: string;
}

/**
 * A shared cache that may lose, delay or resurrect what it was given: never authoritative.
 * Implemented over Redis. Methods never reject; a cache that is away has nothing.
 */
export interface FactCache {
  get(keys: readonly FactKey[]): Promise<ReadonlyMap<FactKey, StampedFact>>;
  set(facts: ReadonlyMap<FactKey, StampedFact>): void;
}
