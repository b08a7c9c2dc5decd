/** A queue whose operations cost the same however long it is; `Array.shift` moves every entry. */
export class Fifo<T> {
  readonly #entries: (T | undefined)[] = [];
  #first = 0;

  get size(): number {
    return this.#entries.length - this.#first;
  }

  /** The one that {@link shift} would take. */
  get first(): T | undefined {
    return this.#entries[this.#first];
  }

  push(entry: T): void {
    this.#entries.push(entry);
  }

  shift(): T | undefined {
    const entry = this.#entries[this.#first];
    if (this.#first < this.#entries.length) this.#entries[this.#first++] = undefined;
    // The rest is moved down only once in `mostGone` calls.
    if (this.#first === this.#entries.length || this.#first === mostGone) {
      this.#entries.splice(0, this.#first);
      this.#first = 0;
    }
    return entry;
  }
}

/** Emptied entries at the front of the array, at most. */
const mostGone = 1000;
