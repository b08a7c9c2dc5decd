/** What was let through, and what had been asked for, up to each step. */
export class Counts {
  readonly stepMs: number;
  readonly #sums: number[] = [0];

  constructor(stepMs: number) {
    this.stepMs = stepMs;
  }

  /** The next step. */
  add(requests: number): void {
    this.#sums.push(this.total + requests);
  }

  get total(): number {
    return this.#sums.at(-1) ?? 0;
  }

  /** By how much it is over `perSecond` a second, at most, in any window of at least `leastMs`. */
  mostOver(perSecond: number, leastMs: number): number {
    const apart = Math.ceil(leastMs / this.stepMs);
    const beyond = this.#sums.map((sum, steps) => sum - (perSecond * steps * this.stepMs) / 1000);
    let [least, most] = [Infinity, -Infinity];
    for (let end = apart; end < beyond.length; end++) {
      least = Math.min(least, beyond[end - apart] ?? Infinity);
      most = Math.max(most, (beyond[end] ?? 0) - least);
    }
    return most;
  }
}
