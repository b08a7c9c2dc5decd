import type { Held, Table } from './memory/entry.ts';

/** Facts under names of any kind. */
export class NameTable implements Table {
  readonly #entries = new Map<string, Held>();
  /** A map's iterator goes on where it was through insertions and deletions: it is the hand. */
  #hand = this.#entries.values();

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): Held | undefined {
    return this.#entries.get(name);
  }

  add(held: Held): void {
    this.#entries.set(held.name, held);
  }

  delete({ name }: Held): void {
    this.#entries.delete(name);
  }

  clear(): void {
    this.#entries.clear();
    this.#hand = this.#entries.values();
  }

  all(): Iterable<Held> {
    return this.#entries.values();
  }

  turn(): Held | undefined {
    const next = this.#hand.next();
    if (next.done !== true) return next.value;
    this.#hand = this.#entries.values();
    return this.#hand.next().value;
  }
}
