import type { AccountId } from '../domain/ids.ts';

/** What is taken up of what was taken up before, while that was too much. */
const lessBy = 0.7;
/** By how much more is taken up once it is no longer too much. */
const moreBy = 1.25;

/**
 * How many requests of each parent, its sub-accounts included, are taken up while the process has more to do than it can. What there is to give is
 * divided by max-min fairness (Bertsekas and Gallager, Data Networks, 6.5.2): a parent that asks for less than an equal
 * share gets all of it, and what it leaves is divided among the others. So it is those who ask for most that wait. A share
 * for each sub-account would give the most to the parent that has the most of them.
 *
 * It counts by windows of time, whose ends it is told of; what is to be shared follows from how the one before went.
 */
export class FairShares {
  /** What each parent has asked for in this window. */
  #asked = new Map<AccountId, number>();
  #admitted = 0;
  /** Requests that are taken up in a window, and of one parent. */
  #capacity = Infinity;
  #most = Infinity;

  /** Counts a request. `false` where its parent has had its share of this window. */
  admits(parent: AccountId): boolean {
    const count = (this.#asked.get(parent) ?? 0) + 1;
    this.#asked.set(parent, count);
    if (count > this.#most) return false;
    this.#admitted += 1;
    return true;
  }

  /**
   * The window is over. Returns whether there is still something to share: requests were turned away, or will be.
   *
   * @param tooMuch what was taken up was more than the process could do
   */
  endWindow(tooMuch: boolean): boolean {
    this.#capacity = tooMuch
      ? lessBy * Math.min(this.#capacity, this.#admitted)
      : moreBy * this.#capacity + 1;
    this.#most = fairShare([...this.#asked.values()], this.#capacity);
    this.#asked = new Map();
    this.#admitted = 0;
    return this.#most < Infinity;
  }
}

/** The share above which a demand is cut, so that all of them together do not exceed what there is; `Infinity` where they do not. At least 1. */
export function fairShare(demands: readonly number[], capacity: number): number {
  let left = capacity;
  let sharing = demands.length;
  for (const demand of [...demands].sort((a, b) => a - b)) {
    const share = left / sharing;
    if (demand > share) return Math.max(1, Math.floor(share));
    left -= demand;
    sharing -= 1;
  }
  return Infinity;
}
