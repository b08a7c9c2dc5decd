/** Tells the followers of the coherence log that there may be something new. */
export class Hints {
  readonly #listeners = new Set<() => void>();

  add(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** A mutation of this process was committed, or the database said so of another one. */
  nudge(): void {
    for (const listener of this.#listeners) listener();
  }
}
