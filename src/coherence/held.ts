import type { FactValue, Seq } from '../ports/facts.ts';

/** A fact in memory. */
export interface Held {
  readonly name: string;
  /** `undefined` from the moment it is no longer held, whoever still refers to it. */
  value: FactValue | undefined;
  seq: Seq;
  /** Asked for since the hand last passed. */
  recent: boolean;
  /** What was asked for after it, and by which name: the account after a key, the parent after an account. */
  next: Held | undefined;
  nextName: string;
}

/** Facts by name, and a hand that goes round over them. */
export interface Table {
  readonly size: number;
  get(name: string): Held | undefined;
  /** The name must not be in it yet. */
  add(held: Held): void;
  delete(held: Held): void;
  clear(): void;
  all(): Iterable<Held>;
  /** The next one, round and round, also while entries come and go; `undefined` where there is none. */
  turn(): Held | undefined;
}
