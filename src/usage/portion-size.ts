/** Minimum of {@link PortionSize.rows}. */
const fewestRows = 125;
/** Maximum of {@link PortionSize.rows}. */
const mostRows = 2_000;

/**
 * Number of rows in a store transaction. Each failed transaction halves it, because the store was probably too busy to
 * finish in time. Each successful one raises it by an eighth.
 */
export class PortionSize {
  #rows = mostRows;

  get rows(): number {
    return this.#rows;
  }

  succeeded(): void {
    this.#rows = Math.min(Math.ceil(this.#rows * 1.125), mostRows);
  }

  failed(): void {
    this.#rows = Math.max(Math.floor(this.#rows / 2), fewestRows);
  }
}
