import type { Timers } from '../../ports/timers.ts';
import type { Portion } from './portion.ts';
import type { Questions } from './questions.ts';

export interface WaitingParts {
  /** Returns the {@link Questions} for the store that holds this limit. */
  readonly questionsOf: (portion: Portion) => Questions;
  readonly timers: Timers;
  /** Milliseconds that a request waits for the stores' answers. */
  readonly answerMs: number;
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
  /** Portions that the request is waiting for, each with a function that cancels the wait. */
  readonly #open = new Map<Portion, () => void>();
  #later: (() => void) | null = null;
  #callOff: () => void = () => undefined;

  /** @param portions the request's portions, none of them known to be empty */
  constructor(portions: readonly Portion[], parts: WaitingParts) {
    this.#parts = parts;
    for (const portion of portions) this.#begin(portion);
  }

  /**
   * Portions that had no token for the request. If there are none once the result is known, the request has all of its
   * tokens.
   */
  get empty(): readonly Portion[] {
    return this.#empty;
  }

  /**
   * If the result is already known, returns `true` and never calls `later`. Otherwise returns `false`, and calls
   * `later` once it is known.
   */
  end(later: () => void): boolean {
    if (this.#open.size === 0) return true;
    this.#later = later;
    this.#callOff = this.#parts.timers.after(this.#parts.answerMs, () => this.#giveUp());
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
        portion.wait((hasToken) => this.#settle(portion, hasToken)),
      );
    }
    if (portion.needsToAsk(nowMs)) questions.ask(portion);
  }

  #takeAlone(portion: Portion): void {
    const { questionsOf, nowMs, replicas } = this.#parts;
    const hasToken = portion.takeAlone(nowMs(), replicas());
    (hasToken ? this.#taken : this.#empty).push(portion);
    if (hasToken) questionsOf(portion).watch(portion);
  }

  #settle(portion: Portion, hasToken: boolean): void {
    this.#open.delete(portion);
    (hasToken ? this.#taken : this.#empty).push(portion);
    this.#endIfAllKnown();
  }

  #giveUp(): void {
    for (const [portion, callOff] of this.#open) {
      callOff();
      this.#takeAlone(portion);
    }
    this.#open.clear();
    this.#endIfAllKnown();
  }

  #endIfAllKnown(): void {
    if (this.#open.size > 0) return;
    this.#callOff();
    this.#later?.();
    this.#later = null;
  }
}
