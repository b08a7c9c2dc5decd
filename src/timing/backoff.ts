/**
 * Computes the pause before the next attempt, in milliseconds. Each consecutive failure doubles it, up to `longestMs`.
 */
export class Backoff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #failures = 0;

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
  }

  /** Number of consecutive failures. */
  get failures(): number {
    return this.#failures;
  }

  /** Counts a failure. Returns the pause before the next attempt. */
  failed(): number {
    this.#failures += 1;
    return Math.min(this.#firstMs * 2 ** (this.#failures - 1), this.#longestMs);
  }

  succeeded(): void {
    this.#failures = 0;
  }
}
