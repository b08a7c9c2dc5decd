/** First in, first out, at the same small cost however many there are. */
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
    // Moving the others down is paid for by those that left.
    if (this.#first === this.#entries.length || this.#first === mostGone) {
      this.#entries.splice(0, this.#first);
      this.#first = 0;
    }
    return entry;
  }
}

const mostGone = 1000;
