/** What was let through, and what had been asked for, up to each step. */
export class Counts {
  readonly stepMs: number;
  readonly #sums: number[] = [0];

  constructor(stepMs: number) {
    this.stepMs = stepMs;
  }

  /** The next step. */
  add(requests: number): void {
    this.#sums.push((this.#sums.at(-1) ?? 0) + requests);
  }

  get total(): number {
    return this.#sums.at(-1) ?? 0;
  }

  /** Requests from one instant to another, milliseconds since the beginning. */
  between(fromMs: number, toMs: number): number {
    return (
      (this.#sums[Math.round(toMs / this.stepMs)] ?? this.total) -
      (this.#sums[Math.round(fromMs / this.stepMs)] ?? 0)
    );
  }

  /** By how much it is over `perSecond` a second, at most, in any window of at least `leastMs` between two instants. */
  mostOver(perSecond: number, leastMs: number, fromMs = 0, toMs = Infinity): number {
    return this.#extreme(
      (sum, steps) => sum - (perSecond * steps * this.stepMs) / 1000,
      leastMs,
      fromMs,
      toMs,
    );
  }

  /** By how much it is under that, at most. */
  mostUnder(perSecond: number, leastMs: number, fromMs = 0, toMs = Infinity): number {
    return this.#extreme(
      (sum, steps) => (perSecond * steps * this.stepMs) / 1000 - sum,
      leastMs,
      fromMs,
      toMs,
    );
  }

  #extreme(
    value: (sum: number, steps: number) => number,
    leastMs: number,
    fromMs: number,
    toMs: number,
  ): number {
    const apart = Math.ceil(leastMs / this.stepMs);
    let least = Infinity;
    let most = -Infinity;
    const last = Math.min(this.#sums.length - 1, toMs / this.stepMs);
    for (let end = Math.ceil(fromMs / this.stepMs) + apart; end <= last; end++) {
      least = Math.min(least, value(this.#sums[end - apart] ?? 0, end - apart));
      most = Math.max(most, value(this.#sums[end] ?? 0, end) - least);
    }
    return most;
  }
}
