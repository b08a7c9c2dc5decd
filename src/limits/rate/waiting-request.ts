import type { Timers } from '../../ports/timers.ts';
import type { Portion } from './portion.ts';
import type { Questions } from './questions.ts';

export interface WaitingParts {
  /** Returns the {@link Questions} for the store that holds this limit. */
  readonly questionsOf: (portion: Portion) => Questions;
  readonly timers: Timers;
  readonly nowMs: () => number;
  /** Returns the number of running replicas, this one included. */
  readonly replicas: () => number;
}

/**
 * A request that found no token on hand for some of its limits. For these limits, it waits for tokens. For its other
 * limits, it takes the tokens on hand. If the store is unreachable or does not answer in time, it takes the missing
 * tokens from this replica's own shares.
 */
export class WaitingRequest {
  readonly #parts: WaitingParts;
  readonly #taken: Portion[] = [];
  readonly #empty: Portion[] = [];
  readonly #unknown: Portion[] = [];
  /** Portions that the request is waiting for, each with a function that cancels the wait. */
  readonly #open = new Map<Portion, () => void>();
  #later: (() => void) | null = null;
  #callsOff: readonly (() => void)[] = [];

  /** @param portions the request's portions, none of them known to be empty */
  constructor(portions: readonly Portion[], parts: WaitingParts) {
    this.#parts = parts;
    for (const portion of portions) this.#begin(portion);
  }

  /**
   * Portions that had no token for the request, according to their store. If there are none once the result is known,
   * and no {@link unknown} ones, the request has all of its tokens.
   */
  get empty(): readonly Portion[] {
    return this.#empty;
  }

  /** Portions whose store did not answer, and whose share had no token. The store may have some. */
  get unknown(): readonly Portion[] {
    return this.#unknown;
  }

  /**
   * If the result is already known, returns `true` and never calls `later`. Otherwise returns `false`, and calls
   * `later` once it is known.
   */
  end(later: () => void): boolean {
    if (this.#isKnown()) return true;
    this.#later = later;
    const { questionsOf, timers } = this.#parts;
    const times = new Set([...this.#open.keys()].map((portion) => questionsOf(portion).waitMs(portion)));
    this.#callsOff = [...times].map((ms) => timers.after(ms, () => this.#giveUp(ms)));
    return false;
  }

  /** Puts back the tokens that the request took. */
  putBack(): void {
    for (const portion of this.#taken) {
      portion.putBack();
      this.#parts.questionsOf(portion).watch(portion);
    }
  }

  #begin(portion: Portion): void {
    const nowMs = this.#parts.nowMs();
    const questions = this.#parts.questionsOf(portion);
    if (portion.hasToken(nowMs)) {
      portion.take();
      this.#taken.push(portion);
    } else if (questions.isAway(portion, nowMs)) this.#takeAlone(portion);
    else {
      this.#open.set(
        portion,
        portion.wait((hasToken, confirmed) => this.#settle(portion, hasToken, confirmed)),
      );
    }
    if (portion.needsToAsk(nowMs)) questions.ask(portion);
  }

  #takeAlone(portion: Portion): void {
    const { questionsOf, nowMs, replicas } = this.#parts;
    const hasToken = portion.takeAlone(nowMs(), replicas());
    (hasToken ? this.#taken : this.#unknown).push(portion);
    if (hasToken) questionsOf(portion).watch(portion);
  }

  #settle(portion: Portion, hasToken: boolean, confirmed: boolean): void {
    this.#open.delete(portion);
    (hasToken ? this.#taken : confirmed ? this.#empty : this.#unknown).push(portion);
    this.#endIfKnown();
  }

  #giveUp(ms: number): void {
    for (const [portion, callOff] of this.#open) {
      if (this.#parts.questionsOf(portion).waitMs(portion) > ms) continue;
      callOff();
      this.#open.delete(portion);
      this.#takeAlone(portion);
    }
    this.#endIfKnown();
  }

  /** Whether nothing is left to wait for. A request without a token of one limit does not wait for its others. */
  #isKnown(): boolean {
    if (this.#unknown.length > 0) {
      for (const callOff of this.#open.values()) callOff();
      this.#open.clear();
    }
    return this.#open.size === 0;
  }

  #endIfKnown(): void {
    if (!this.#isKnown()) return;
    for (const callOff of this.#callsOff) callOff();
    this.#later?.();
    this.#later = null;
  }
}
