import type { FactValue, Seq } from '../../ports/facts.ts';

/** What a {@link Table} holds things by. */
export interface Named {
  readonly name: string;
}

/** A fact in memory. */
export interface Held extends Named {
  /** `undefined` from the moment it is no longer held, even where a look-up still refers to it. */
  value: FactValue | undefined;
  seq: Seq;
  /** Asked for since the hand last passed. */
  recent: boolean;
  /** What was asked for after it, and by which name: the account after a key, the parent after an account. */
  next: Held | undefined;
  nextName: string;
}

/** Things by name, and a hand that goes round over them. */
export interface Table<T extends Named = Held> {
  readonly size: number;
  get(name: string): T | undefined;
  /** The name must not be in it yet. */
  add(thing: T): void;
  delete(thing: T): void;
  clear(): void;
  all(): Iterable<T>;
  /** The next one, round and round, also while others come and go; `undefined` where there is none. */
  turn(): T | undefined;
}
