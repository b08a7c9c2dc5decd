import type { AccountId } from '../domain/ids.ts';

/** After a window that was too much, the capacity is at most this fraction of the requests that the window admitted. */
const lessBy = 0.7;
/** Factor by which capacity grows after a window that was not too much. */
const moreBy = 1.25;

/**
 * Divides capacity among parents, each with its sub-accounts, while the process is overloaded. It uses max-min fairness
 * (Bertsekas and Gallager, Data Networks, 6.5.2): a parent that asks for less than an equal share gets all it asks for,
 * and the rest is divided among the others. So the parents that ask for most have to wait. Shares per sub-account would
 * favour the parent with the most of them.
 *
 * It counts in windows of time; the caller ends them. Each window decides the capacity of the next.
 */
export class FairShares {
  /** Requests of each parent in this window. */
  #asked = new Map<AccountId, number>();
  #admitted = 0;
  /** Number of requests that a window admits, in total and of one parent. */
  #capacity = Infinity;
  #most = Infinity;

  /** Counts a request. Returns `false` if its parent has used up its share of this window. */
  admits(parent: AccountId): boolean {
    const count = (this.#asked.get(parent) ?? 0) + 1;
    this.#asked.set(parent, count);
    if (count > this.#most) return false;
    this.#admitted += 1;
    return true;
  }

  /**
   * Ends the window. Returns whether shares are still needed: requests were rejected, or will be.
   *
   * @param tooMuch whether the process could not keep up with the admitted requests
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

/**
 * Returns the share, at least 1, to which larger demands must be cut so that all demands together fit the capacity;
 * `Infinity` if they fit without a cut.
 */
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
