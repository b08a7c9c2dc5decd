/** Tells listeners that the coherence log may have new entries. */
export class Hints {
  readonly #listeners = new Set<() => void>();

  add(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Called after this process commits a change, or when the database reports a commit by another process. */
  nudge(): void {
    for (const listener of this.#listeners) listener();
  }
}
