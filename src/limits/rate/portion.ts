import { untilTokenMs } from '../../domain/limits/bucket.ts';
import type { LimitFigures, LimitKind } from '../../domain/limits/limits.ts';
import type { TokenAnswer, TokenQuestion } from '../../ports/limits/token-store.ts';
import type { Alone } from './alone.ts';

/** Times that decide how far ahead of its requests a replica asks. All figures are milliseconds. */
export interface Pace {
  /** Demand of this many milliseconds is covered by tokens at hand. */
  readonly aheadMs: number;
  /** Time without use after which tokens at hand are given back. */
  readonly keptMs: number;
  /** Time over which demand is averaged; a longer pause is a rest. */
  readonly averageMs: number;
  /** Time for which a store without a token is not asked again, if it cannot tell when there will be one. */
  readonly emptyMs: number;
}

/**
 * Buckets have a token at hand from 40 requests a second on, so that a burst does not miss tokens that lie unused
 * elsewhere.
 */
export const bucketPace: Pace = { aheadMs: 25, keptMs: 50, averageMs: 250, emptyMs: 0 };
/** Quotas are asked less often, because their store is PostgreSQL. */
export const quotaPace: Pace = { aheadMs: 5_000, keptMs: 10_000, averageMs: 10_000, emptyMs: 250 };

/** Least time between two looks at demand, milliseconds. */
const leastMs = 5;
/** Milliseconds before tokens are requested in advance again, if the store had none to spare. */
const noneSpareMs = 25;
/** Part of the time until a token comes after which the replica asks for it, because clocks differ. */
const sooner = 0.95;

/** Called once, with whether the waiting request has a token. */
export type Waiting = (hasToken: boolean) => void;

export interface PortionParts {
  readonly kind: LimitKind;
  /** Id of the account or key. */
  readonly id: string;
  readonly figures: LimitFigures;
  readonly pace: Pace;
  readonly alone: Alone;
}

/**
 * The tokens of one limit that this replica has at hand, and the requests that wait for one. All times are milliseconds of this
 * machine's monotonic clock.
 */
export class Portion {
  readonly kind: LimitKind;
  readonly limit: string;
  figures: LimitFigures;
  /** Time of the last request. */
  askedMs: number;
  readonly #pace: Pace;
  readonly #alone: Alone;
  #hand = 0;
  /** Tokens in the store, as last answered. */
  #left: number;
  /** Series of the quota, and tokens of it that were spent. */
  #spent = 0;
  #series: number | null = null;
  /** Tokens that the store counts as spent. */
  #told = 0;
  /** Length and end of a quota's window. */
  #windowMs = 0;
  #endsMs = Infinity;
  /** Until this time the store has no token for anybody. */
  #emptyUntilMs = -Infinity;
  /** Until this time no tokens are requested in advance. */
  #noneSpareUntilMs = -Infinity;
  readonly #waiting: Waiting[] = [];
  /** Number of waiting requests that the present question covers. */
  #included = 0;
  #isAsking = false;
  #isLeaving = false;
  /** Time of the present or the last question. */
  #sentMs = 0;
  /** Requests since `#sinceMs`, and their average before that, per millisecond. */
  #requests = 0;
  #sinceMs: number;
  #demand = 0;
  /** Number of tokens at hand below which more are requested. */
  #low = 0;
  /** Debt in the present question. It counts again if there is no answer. */
  #paying = 0;

  constructor({ kind, id, figures, pace, alone }: PortionParts, nowMs: number) {
    this.kind = kind;
    this.limit = `${kind}:${id}:${figures.period}`;
    this.figures = figures;
    this.#left = figures.capacity;
    this.#pace = pace;
    this.#alone = alone;
    this.askedMs = nowMs;
    this.#sinceMs = nowMs;
  }

  /** Tokens that this replica knows of: those at hand, and those in the store. */
  get known(): number {
    return Math.min(this.figures.capacity, this.#hand + this.#left);
  }

  /** Length of a quota's window, and the time until its end. */
  windowAt(nowMs: number): { readonly lengthMs: number; readonly endsInMs: number } {
    return { lengthMs: this.#windowMs, endsInMs: Math.max(0, this.#endsMs - nowMs) };
  }

  /** Whether the portion may be forgotten: no request waits, and the store knows all use of a quota. */
  get isForgettable(): boolean {
    return this.#waiting.length === 0 && !this.#isAsking && !(this.#isQuota && this.isHolding);
  }

  /** Whether tokens at hand are to be given back, or the store must be told of them or of a debt. */
  hasSomethingToSay(nowMs: number): boolean {
    if (this.#isAsking) return false;
    const { keptMs } = this.#pace;
    const isOld = nowMs - this.askedMs >= keptMs || nowMs - this.#sentMs >= keptMs;
    return this.#alone.debt > 0 || (this.isHolding && isOld);
  }

  /** Whether tokens are at hand, or some were spent that the store does not know of. */
  get isHolding(): boolean {
    return this.#hand > 0 || this.#alone.debt > 0 || (this.#isQuota && this.#spent !== this.#told);
  }

  get #isQuota(): boolean {
    return this.figures.perSecond === 0;
  }

  /** Counts a request as demand. */
  noteRequest(nowMs: number): void {
    // Requests after a rest may be a burst, and say nothing about demand.
    if (nowMs - this.askedMs >= this.#pace.averageMs)
      [this.#demand, this.#requests, this.#sinceMs] = [0, 0, nowMs];
    this.#requests += 1;
    this.askedMs = nowMs;
  }

  hasToken(nowMs: number): boolean {
    return this.#hand >= 1 && nowMs < this.#endsMs;
  }

  /** Whether neither this replica nor the store has a token now. */
  isEmpty(nowMs: number): boolean {
    return nowMs < this.#emptyUntilMs && !this.hasToken(nowMs);
  }

  /** Takes a token that is at hand. */
  take(): void {
    this.#hand -= 1;
    this.#spend(1);
  }

  /**
   * Takes a token from the share of a replica that cannot reach the store. @param replicas number of replicas that
   * decide
   */
  takeAlone(nowMs: number, replicas: number): boolean {
    const hasToken = this.#alone.take(this.figures, { replicas, left: this.#left, nowMs });
    if (hasToken) this.#spent += 1;
    return hasToken;
  }

  /** Puts a token back that was not used. */
  putBack(): void {
    this.#hand += 1;
    this.#spend(-1);
  }

  /** Lets a request wait. Returns a function that cancels the wait. */
  wait(waiting: Waiting): () => void {
    this.#waiting.push(waiting);
    return () => {
      const at = this.#waiting.indexOf(waiting);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      if (at < this.#included) this.#included -= 1;
    };
  }

  /** Expects no more requests, so that the next question gives back everything at hand. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Applies changed figures. */
  change(figures: LimitFigures): void {
    if (this.#isQuota) {
      // The number of tokens that are left is known, but not whether it includes those at hand.
      if (figures.capacity < this.figures.capacity) this.#hand = 0;
      this.#left += figures.capacity - this.figures.capacity;
    }
    this.#left = Math.max(0, Math.min(this.#left, figures.capacity));
    this.figures = figures;
    this.#emptyUntilMs = -Infinity;
    this.#hand = Math.min(this.#hand, figures.capacity);
  }

  /** Milliseconds until there may be a token, as far as known. */
  emptyForMs(nowMs: number): number {
    return Math.max(0, this.#emptyUntilMs - nowMs);
  }

  /** Whether a question is due: requests wait, or the tokens at hand run out soon. */
  needsToAsk(nowMs: number): boolean {
    if (this.#isAsking) return false;
    return this.#waiting.length > 0 || (this.#hand < this.#low && nowMs >= this.#noneSpareUntilMs);
  }

  /**
   * Returns the question to send now. {@link answered} or {@link failed} follows. @param replicas number of replicas
   * that decide
   */
  question(nowMs: number, replicas: number): TokenQuestion {
    this.#isAsking = true;
    this.#sentMs = nowMs;
    const expected = this.#expected(nowMs, replicas);
    const surplus = Math.max(0, this.#hand - 2 * expected);
    this.#hand -= surplus;
    this.#included = this.#waiting.length;
    this.#paying = this.#alone.pay();
    const back = surplus - this.#paying;
    return this.#questionOf(back, this.#included, Math.max(0, expected - this.#hand));
  }

  /** Returns a question that takes nothing. */
  look(): TokenQuestion {
    return this.#questionOf(0, 0, 0);
  }

  /** Learns the number of tokens that are left, from the answer to a {@link look}. */
  looked({ left, window }: TokenAnswer, nowMs: number): void {
    this.#left = left;
    this.#emptyUntilMs = -Infinity;
    if (window !== undefined) [this.#windowMs, this.#endsMs] = [window.lengthMs, nowMs + window.endsInMs];
  }

  /** @returns whether requests are waiting, so that another question is needed */
  answered({ granted, left, window }: TokenAnswer, nowMs: number): boolean {
    if (window !== undefined) {
      if (window.series !== this.#series) {
        // Units that were spent before the first answer belong to this series; those of another series do not.
        this.#spent = window.spent + (this.#series === null ? this.#spent : 0);
        this.#series = window.series;
        this.#hand = 0;
      }
      this.#told = window.spent + Math.min(granted, this.#included);
      [this.#windowMs, this.#endsMs] = [window.lengthMs, nowMs + window.endsInMs];
    }
    this.#hand += granted;
    this.#left = left;
    this.#isAsking = false;
    this.#paying = 0;
    this.#alone.end(this.figures, nowMs);
    if (granted === 0) this.#noneSpareUntilMs = nowMs + noneSpareMs;
    const included = this.#included;
    this.#included = 0;
    const served = Math.min(this.#waiting.length, this.#hand);
    const isEmpty = untilTokenMs(left, 1) > 0;
    if (isEmpty && this.#hand - served < 1) this.#emptyUntilMs = this.#nextTokenMs(left, nowMs);
    // If nothing is left for anybody, requests that came after the question are rejected together with those before it.
    const settled = isEmpty
      ? this.#waiting.length
      : Math.max(served, Math.min(included, this.#waiting.length));
    const settling = this.#waiting.splice(0, settled);
    for (let i = 0; i < served; i++) this.take();
    for (const [i, waiting] of settling.entries()) waiting(i < served);
    this.#low = Math.ceil(this.#hand / 2);
    return this.#waiting.length > 0;
  }

  /** The store has not answered, so this replica's share serves the waiting requests. */
  failed(nowMs: number, replicas: number): void {
    this.#isAsking = false;
    this.#alone.owe(this.#paying);
    this.#paying = 0;
    for (const waiting of this.#waiting.splice(0)) waiting(this.takeAlone(nowMs, replicas));
  }

  /** This is a literal, because an object made by spread would cost several times as much. */
  #questionOf(back: number, needed: number, ahead: number): TokenQuestion {
    const { capacity, perSecond, period } = this.figures;
    return {
      limit: this.limit,
      period,
      capacity,
      perSecond,
      back,
      needed,
      ahead,
      spent: this.#spent,
      hand: this.#hand,
      series: this.#series,
    };
  }

  #spend(tokens: number): void {
    this.#spent += tokens;
    this.#alone.noteUse(tokens);
  }

  #nextTokenMs(left: number, nowMs: number): number {
    const { perSecond } = this.figures;
    if (this.#isQuota) return nowMs + this.#pace.emptyMs;
    // The store answered at some time between the question and now.
    return (this.#sentMs + nowMs) / 2 + untilTokenMs(left, perSecond) * sooner;
  }

  /**
   * Returns the tokens for requests that are expected soon. A burst is not expected to continue: tokens at hand for it
   * would be missing on the replica that gets the rest of it.
   */
  #expected(nowMs: number, replicas: number): number {
    const { aheadMs, keptMs, averageMs } = this.#pace;
    const before = this.#demand;
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs >= leastMs) {
      const weight = 1 - Math.exp(-elapsedMs / averageMs);
      this.#demand += (this.#requests / elapsedMs - this.#demand) * weight;
      this.#requests = 0;
      this.#sinceMs = nowMs;
    }
    if (this.#isLeaving || nowMs - this.askedMs >= keptMs) return 0;
    const expected = Math.floor(Math.min(before, this.#demand) * aheadMs);
    return Math.min(expected, this.#alone.mostAtHand(this.figures, replicas));
  }
}
