import type { AccountId } from '../domain/ids.ts';

/**
 * After a window in which the process could not keep up, the capacity is at most this fraction of the requests that the
 * window admitted.
 */
const lessBy = 0.7;
/** Factor by which capacity grows after a window in which the process kept up. */
const moreBy = 1.25;

/**
 * Divides capacity while the process is overloaded: first among parents, each together with its sub-accounts, then
 * among the networks of strangers. A stranger is a request without a known caller. Both steps use max-min fairness
 * (Bertsekas and Gallager, Data Networks, 6.5.2): a parent that asks for less than an equal share gets all it asks for,
 * and the rest is divided among the others. So strangers are rejected first, and then requests from the parents that
 * ask for the most. Giving each sub-account a share of its own would favour the parent with the most sub-accounts.
 *
 * Requests are counted in time windows, which the caller ends. Each window determines the capacity of the next one.
 */
export class FairShares {
  readonly #parents = new Shares<AccountId>();
  readonly #networks = new Shares<string>();
  /** Total number of requests that a window admits. */
  #capacity = Infinity;

  /**
   * Counts a request, or the work for one under way. Returns `false` if its parent has used up its share of this window.
   *
   * @param work as many requests as take the same time
   */
  admits(parent: AccountId, work = 1): boolean {
    return this.#parents.admits(parent, work);
  }

  /** The same for a request without a known caller, and the share of its network. */
  admitsStranger(network: string, work = 1): boolean {
    return this.#networks.admits(network, work);
  }

  /**
   * Ends the window. Returns `true` if shares are still needed, because demand exceeds the next window's capacity.
   *
   * @param tooMuch whether the process could not keep up with the admitted requests
   */
  endWindow(tooMuch: boolean): boolean {
    const parents = this.#parents;
    const networks = this.#networks;
    this.#capacity = tooMuch
      ? lessBy * Math.min(this.#capacity, parents.admitted + networks.admitted)
      : moreBy * this.#capacity + 1;
    // Rejecting a parent's request costs as much as rejecting a stranger's request with 401. So if strangers send most
    // of the requests, rejecting parents saves little. The capacity then covers all requests of parents.
    if (networks.asked > parents.asked) this.#capacity = Math.max(this.#capacity, parents.asked);
    const left = Math.max(0, this.#capacity - parents.asked);
    parents.divide(this.#capacity);
    networks.divide(left);
    return parents.limited || networks.limited;
  }
}

/** Counts the current window's requests by sender, and limits how many of each sender's requests are admitted. */
class Shares<Who> {
  #asked = new Map<Who, number>();
  #most = Infinity;
  asked = 0;
  admitted = 0;

  get limited(): boolean {
    return this.#most < Infinity;
  }

  admits(who: Who, work: number): boolean {
    const before = this.#asked.get(who) ?? 0;
    const count = before + work;
    this.#asked.set(who, count);
    this.asked += work;
    this.admitted += Math.max(0, Math.min(count, this.#most) - before);
    return count <= this.#most;
  }

  /** Ends this window, and divides the next window's capacity according to the demand in this one. */
  divide(capacity: number): void {
    this.#most = fairShare([...this.#asked.values()], capacity);
    this.#asked = new Map();
    this.asked = 0;
    this.admitted = 0;
  }
}

/**
 * Returns the share to which larger demands must be cut, so that all demands together fit the capacity. The share is at
 * least 1. Returns `Infinity` if no demand has to be cut.
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
