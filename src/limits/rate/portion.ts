import { untilTokenMs } from '../../domain/limits/bucket.ts';
import type { LimitFigures, LimitKind, QuotaWindow } from '../../domain/limits/limits.ts';
import type { TokenAnswer, TokenQuestion } from '../../ports/limits/token-store.ts';
import type { Alone } from './alone.ts';
import { Demand } from './demand.ts';

/** Times in milliseconds that decide how many tokens a replica asks for in advance, and how long it keeps them. */
export interface Pace {
  /** The replica asks for enough tokens to cover the demand that it expects within this time. */
  readonly aheadMs: number;
  /** Tokens on hand are given back after this long without use. */
  readonly keptMs: number;
  /** Time over which demand is averaged. After a longer pause, the average restarts at 0. */
  readonly averageMs: number;
  /**
   * After the store has run out of a quota's tokens, the replica rejects requests for this long without asking the
   * store again. For a bucket, this time is computed from the bucket's rate instead.
   */
  readonly emptyMs: number;
}

/**
 * With this pace, a replica keeps tokens of a bucket on hand only if it gets at least 40 requests a second, which is
 * one request in `aheadMs`. Otherwise the tokens stay in the store, for a burst on any replica.
 */
export const bucketPace: Pace = { aheadMs: 25, keptMs: 50, averageMs: 250, emptyMs: 0 };
/** The store of quotas is the database, so it is queried less often. */
export const quotaPace: Pace = { aheadMs: 5_000, keptMs: 10_000, averageMs: 10_000, emptyMs: 250 };

/**
 * Pause in milliseconds after an answer without tokens. During the pause, the replica sends a query for tokens only if
 * requests are waiting for tokens.
 */
const noneSpareMs = 25;
/**
 * A replica asks again after this fraction of the computed time until the next token. It asks early, because its clock
 * and the store's may differ.
 */
const sooner = 0.95;

/**
 * Called once: with `true` if the waiting request got a token, otherwise with `false`. `confirmed` says whether that is
 * the store's answer.
 */
export type Waiting = (hasToken: boolean, confirmed: boolean) => void;

export interface PortionParts {
  readonly kind: LimitKind;
  /** Id of the account or key. */
  readonly id: string;
  readonly figures: LimitFigures;
  readonly pace: Pace;
  readonly alone: Alone;
}

/**
 * The tokens of one limit that this replica has on hand, and the requests that are waiting for tokens. All times are in
 * milliseconds on this machine's monotonic clock.
 */
export class Portion {
  readonly kind: LimitKind;
  readonly limit: string;
  figures: LimitFigures;
  /** Number of requests that took a token and have neither a response nor given the token back; see {@link ended}. */
  underWay = 0;
  /** Whether the limit was removed. If it is set again, it gets another portion. */
  isGone = false;
  /** Whether the store has not answered about the limit yet. */
  isNew = true;
  readonly #pace: Pace;
  readonly #alone: Alone;
  #hand = 0;
  /** Tokens in the store, according to its last answer. */
  #left: number;
  /**
   * Tokens that this replica has spent in `#series`. A new series begins when a quota's window or count starts over.
   */
  #spent = 0;
  #series: number | null = null;
  /** How many of the requests under way took their tokens in an earlier series, assuming that the first to begin end first. */
  #underWayBefore = 0;
  /** Number of tokens in `#spent` that the store knows about. */
  #told = 0;
  /** Length of a quota's window. The window ends at `#endsMs`. */
  #windowMs = 0;
  #endsMs = Infinity;
  /** Time until which the store is expected to have no token for any replica. */
  #emptyUntilMs = -Infinity;
  /** Time at which the pause of {@link noneSpareMs} ends. */
  #noneSpareUntilMs = -Infinity;
  readonly #waiting: Waiting[] = [];
  /** Called once the store knows what this replica has spent: `#telling` with the current query, `#untold` with the next. */
  #telling: readonly (() => void)[] = [];
  #untold: (() => void)[] = [];
  /** Whether tokens were spent that the store has not granted. `#sayingOverdraft`: whether the current query says so. */
  #overdrawn = false;
  #sayingOverdraft = false;
  /** Number of waiting requests that the current query covers. */
  #included = 0;
  #isAsking = false;
  #isLeaving = false;
  /** Time of the current or most recent query. */
  #sentMs = 0;
  readonly #demand: Demand;
  /** More tokens are requested once fewer than this many are on hand. */
  #low = 0;
  /** Debt that the current query reports. If the store does not answer, this debt is owed again. */
  #paying = 0;

  constructor({ kind, id, figures, pace, alone }: PortionParts, nowMs: number) {
    this.kind = kind;
    this.limit = `${kind}:${id}:${figures.period}${figures.unit === 'units' ? ':units' : ''}`;
    this.figures = figures;
    this.#left = figures.capacity;
    this.#pace = pace;
    this.#alone = alone;
    this.#demand = new Demand(pace.averageMs, nowMs);
  }

  /** Tokens that this replica knows about: those on hand, and those in the store. */
  get known(): number {
    return Math.min(this.figures.capacity, this.#hand + this.#left);
  }

  /** Returns a quota's window by the store's clock; `null` before the store's first answer. */
  windowAt(nowMs: number): QuotaWindow | null {
    if (this.#windowMs === 0) return null;
    return { lengthMs: this.#windowMs, endsInMs: Math.max(0, this.#endsMs - nowMs) };
  }

  /**
   * Whether the portion may be forgotten: no request waits, and no query is in progress. A quota must also have nothing
   * on hand and nothing to report.
   */
  get isForgettable(): boolean {
    // A request that is under way still has something to say, and a second portion would contradict it.
    if (this.underWay > 0 || this.#untold.length > 0) return false;
    return this.#waiting.length === 0 && !this.#isAsking && !(this.#isQuota && this.isHolding);
  }

  /** Whether it is time for a query that gives tokens back to the store, or that reports spent tokens or a debt. */
  hasSomethingToSay(nowMs: number): boolean {
    if (this.#isAsking) return false;
    const { keptMs } = this.#pace;
    const isOld = nowMs - this.#demand.lastMs >= keptMs || nowMs - this.#sentMs >= keptMs;
    return this.#alone.debt > 0 || this.#overdrawn || (this.isHolding && isOld);
  }

  /** Whether there are tokens on hand, or spent tokens or a debt that the store does not know about yet. */
  get isHolding(): boolean {
    return (
      this.#hand > 0 ||
      this.#alone.debt > 0 ||
      this.#overdrawn ||
      (this.#isQuota && this.#spent !== this.#told)
    );
  }

  get #isQuota(): boolean {
    return this.figures.perSecond === 0;
  }

  /** Counts a request as demand. */
  noteRequest(nowMs: number): void {
    this.#demand.noteRequest(nowMs);
  }

  hasToken(nowMs: number): boolean {
    return this.#hand >= 1 && nowMs < this.#endsMs;
  }

  /** Whether neither this replica nor the store has a token now. */
  isEmpty(nowMs: number): boolean {
    return nowMs < this.#emptyUntilMs && !this.hasToken(nowMs);
  }

  /** Takes one of the tokens on hand. */
  take(): void {
    this.#hand -= 1;
    this.#spend(1);
  }

  /**
   * Takes a token from this replica's own share, because the store is unreachable. Returns `false` if none is left.
   *
   * @param replicas number of running replicas, this one included
   */
  takeAlone(nowMs: number, replicas: number): boolean {
    const hasToken = this.#alone.take(this.figures, { replicas, left: this.#left, nowMs });
    if (hasToken) this.#spent += 1;
    return hasToken;
  }

  /**
   * Notes that a request under way has ended. Returns whether its token may be put back: tokens of an earlier series are
   * gone.
   */
  ended(): boolean {
    this.underWay -= 1;
    if (this.#underWayBefore === 0) return true;
    this.#underWayBefore -= 1;
    return false;
  }

  /** Puts back a token that was not used. */
  putBack(): void {
    this.#hand += 1;
    this.#spend(-1);
  }

  /**
   * Takes further tokens for a request that has taken one, or gives that one back if `more` is -1. If there are too few
   * on hand, takes tokens that the store has not granted.
   *
   * @returns whether it took such tokens. Other replicas can use the same tokens until the store is told
   */
  takeMore(more: number): boolean {
    if (more < 0) {
      this.putBack();
      return false;
    }
    const onHand = Math.min(more, this.#hand);
    const beyond = more - onHand;
    this.#hand -= onHand;
    this.#left = Math.max(0, this.#left - beyond);
    this.#spent = Math.min(this.#spent + more, Number.MAX_SAFE_INTEGER);
    this.#demand.noteMore(more);
    this.#alone.takeMore(beyond);
    this.#overdrawn ||= beyond > 0;
    return beyond > 0;
  }

  /** Whether there are more tokens on hand than the requests expected soon need, so that other replicas lack them. */
  hasSurplus(nowMs: number, replicas: number): boolean {
    return !this.#isAsking && this.#hand > 2 * this.#expected(nowMs, replicas);
  }

  /** Calls `told` once a query that begins later has been answered, or has failed. */
  whenTold(told: () => void): void {
    this.#untold.push(told);
  }

  /** Adds a request that waits for a token. Returns a function that cancels the wait. */
  wait(waiting: Waiting): () => void {
    this.#waiting.push(waiting);
    return () => {
      const at = this.#waiting.indexOf(waiting);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      if (at < this.#included) this.#included -= 1;
    };
  }

  /** Prepares for shutdown: the next query gives back all tokens on hand. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Applies the limit's new figures. */
  change(figures: LimitFigures): void {
    if (this.#isQuota) {
      // The smaller quota may no longer include the tokens on hand, so they are dropped.
      if (figures.capacity < this.figures.capacity) this.#hand = 0;
      this.#left += figures.capacity - this.figures.capacity;
    }
    this.#left = Math.max(0, Math.min(this.#left, figures.capacity));
    this.figures = figures;
    this.#emptyUntilMs = -Infinity;
    this.#hand = Math.min(this.#hand, figures.capacity);
  }

  /** Returns the milliseconds until there may be a token, as far as this replica knows. */
  emptyForMs(nowMs: number): number {
    return Math.max(0, this.#emptyUntilMs - nowMs);
  }

  /** Whether a query is due: requests are waiting, or the tokens on hand will run out soon. */
  needsToAsk(nowMs: number): boolean {
    if (this.#isAsking) return false;
    return this.#waiting.length > 0 || (this.#hand < this.#low && nowMs >= this.#noneSpareUntilMs);
  }

  /**
   * Returns the query to send now. The caller must call {@link answered} or {@link failed} afterwards.
   *
   * @param replicas number of running replicas, this one included
   */
  question(nowMs: number, replicas: number): TokenQuestion {
    this.#isAsking = true;
    this.#sentMs = nowMs;
    const expected = this.#expected(nowMs, replicas);
    const surplus = Math.max(0, this.#hand - 2 * expected);
    this.#hand -= surplus;
    this.#included = this.#waiting.length;
    [this.#telling, this.#untold] = [this.#untold, []];
    [this.#sayingOverdraft, this.#overdrawn] = [this.#overdrawn, false];
    this.#paying = this.#alone.pay();
    const back = surplus - this.#paying;
    return this.#questionOf(back, this.#included, Math.max(0, expected - this.#hand));
  }

  /**
   * Applies an answer and serves waiting requests. Returns `true` if another query is needed: some requests are still
   * waiting, or the store must be told of more tokens.
   */
  answered({ granted, left, window }: TokenAnswer, nowMs: number): boolean {
    if (window !== undefined) {
      if (window.series !== this.#series) {
        // Tokens spent before the store's first answer belong to the series in that answer. Tokens spent in an earlier
        // series no longer count.
        this.#spent = window.spent + (this.#series === null ? this.#spent : 0);
        this.#underWayBefore = this.#series === null ? 0 : this.underWay;
        this.#series = window.series;
        this.#hand = 0;
      }
      this.#told = window.spent + Math.min(granted, this.#included);
      [this.#windowMs, this.#endsMs] = [window.lengthMs, nowMs + window.endsInMs];
    }
    this.isNew = false;
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
    if (!isEmpty) this.#emptyUntilMs = -Infinity;
    else if (this.#hand - served < 1) this.#emptyUntilMs = this.#nextTokenMs(left, nowMs);
    // If the store is empty, requests that arrived after the query was sent are rejected as well.
    const settled = isEmpty
      ? this.#waiting.length
      : Math.max(served, Math.min(included, this.#waiting.length));
    const settling = this.#waiting.splice(0, settled);
    for (let i = 0; i < served; i++) this.take();
    for (const [i, waiting] of settling.entries()) waiting(i < served, true);
    this.#low = Math.ceil(this.#hand / 2);
    for (const told of this.#telling) told();
    this.#telling = [];
    return this.#waiting.length > 0 || this.#untold.length > 0;
  }

  /** Called if the store did not answer: serves the waiting requests from this replica's own share. */
  failed(nowMs: number, replicas: number): void {
    this.#isAsking = false;
    this.#overdrawn ||= this.#sayingOverdraft;
    this.#alone.owe(this.#paying);
    this.#paying = 0;
    for (const waiting of this.#waiting.splice(0)) waiting(this.takeAlone(nowMs, replicas), false);
    for (const told of [...this.#telling, ...this.#untold.splice(0)]) told();
    this.#telling = [];
  }

  /** Builds a query. Lists all fields, because a spread would cost several times as much. */
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
    // The store answered at some time between the query and now, so assume the midpoint.
    return (this.#sentMs + nowMs) / 2 + untilTokenMs(left, perSecond) * sooner;
  }

  /** Returns how many tokens to keep for the requests expected soon. */
  #expected(nowMs: number, replicas: number): number {
    const { aheadMs, keptMs } = this.#pace;
    const perMs = this.#demand.steadyPerMs(nowMs);
    if (this.#isLeaving || nowMs - this.#demand.lastMs >= keptMs) return 0;
    const expected = Math.floor(perMs * aheadMs);
    return Math.min(expected, this.#alone.mostAtHand(this.figures, replicas));
  }
}
