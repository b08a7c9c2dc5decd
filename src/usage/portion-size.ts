/** Minimum of {@link PortionSize.rows}. */
const fewestRows = 125;
/** Maximum of {@link PortionSize.rows}. */
const mostRows = 2_000;
/** Rows by which a successful transaction raises {@link PortionSize.rows}. */
const more = 20;

/**
 * Number of rows in a store transaction. A failed transaction halves the number, because the store was probably too
 * busy to finish in time. A successful transaction raises the number only a little, so that a busy store does not fail
 * again soon.
 */
export class PortionSize {
  #rows = mostRows;

  get rows(): number {
    return this.#rows;
  }

  succeeded(): void {
    this.#rows = Math.min(this.#rows + more, mostRows);
  }

  failed(): void {
    this.#rows = Math.max(Math.floor(this.#rows / 2), fewestRows);
  }
}
