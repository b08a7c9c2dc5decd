/** Tells the followers of the coherence log that it may have new entries. */
export class Hints {
  readonly #listeners = new Set<() => void>();

  add(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Called after a commit of this process, or when the database reports a commit of another process. */
  nudge(): void {
    for (const listener of this.#listeners) listener();
  }
}
