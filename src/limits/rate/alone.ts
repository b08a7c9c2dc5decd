import type { BucketFigures } from '../../domain/limits/bucket.ts';

/** State on which a replica bases its decisions while it cannot reach the store. */
interface AloneState {
  /** Number of running replicas, this one included. */
  readonly replicas: number;
  /** Tokens in the store, according to its last answer. */
  readonly left: number;
  /** Monotonic time in milliseconds. */
  readonly nowMs: number;
}

/** A replica's share of a limit, from which it admits requests while it cannot reach the store. */
export interface Alone {
  /** Number of tokens taken while the store was unreachable and not yet reported to it. */
  readonly debt: number;
  /** Records that tokens from the store were used. A negative number records tokens that were put back. */
  noteUse(tokens: number): void;
  /** Takes a token from the share. Returns `false` if none is left. */
  take(figures: BucketFigures, state: AloneState): boolean;
  /**
   * Takes further tokens for requests that already took one, even if the share has none left: their responses said what
   * they were worth. Tokens that are taken while the store is reachable are no debt.
   */
  takeMore(tokens: number): void;
  /** Returns the debt, which the next query reports to the store. */
  pay(): number;
  /** Called if the query got no answer. The tokens that the query reported count as debt again. */
  owe(tokens: number): void;
  /** Called when the store has answered. The next outage starts with a fresh share. */
  end(figures: BucketFigures, nowMs: number): void;
  /** Returns the maximum number of tokens to keep on hand. These tokens are lost if the replica is killed. */
  mostAtHand(figures: BucketFigures, replicas: number): number;
}

/**
 * Time over which a replica's use of a limit is averaged: `fills` times as long as the bucket takes to fill, but at
 * least `leastMs`.
 *
 * In that time, the limit's rate fills the bucket ten times or more. Besides these fills, all replicas together can use
 * the tokens that were in the bucket at the start: at most one more fill. So they use at most 11 fills where the rate
 * allows 10. Their averages therefore add up to at most 1.1 times the rate.
 */
const average = { leastMs: 10_000, fills: 10 };
/**
 * A replica's share is its average use times this factor, which leaves room for random variation. The averages of all
 * replicas add up to at most 1.1 times the limit's rate, so their shares add up to at most 1.1 × 1.2 = 1.32 times the
 * rate.
 */
const growth = 1.2;
/**
 * Minimum share of a replica, as a fraction of an equal share. An equal share is the limit's rate divided by the number
 * of replicas, so all minimum shares add up to 0.18 times the rate. The shares that follow from {@link growth} add up
 * to at most 1.32 times the rate. So all shares together come to at most 1.5 times the rate.
 */
const least = 0.18;
/** A replica may admit this fraction of its share of the bucket's capacity at once, but at least one request. */
const atOnce = 0.4;

/** A replica's share of a bucket. The size of the share follows from the replica's recent use of the limit. */
export class AloneBucket implements Alone {
  debt = 0;
  #used = 0;
  /** Average number of tokens used per second. */
  #useRate = 0;
  #sinceMs: number;
  #tokens: number | null = null;
  #atMs = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  noteUse(tokens: number): void {
    this.#used += tokens;
  }

  take(figures: BucketFigures, { replicas, nowMs }: AloneState): boolean {
    const { capacity, perSecond } = figures;
    if (this.#tokens === null) this.#average(figures, nowMs);
    const rate = Math.max(Math.min(growth * this.#useRate, perSecond), (least * perSecond) / replicas);
    const most = Math.max(1, (atOnce * capacity * rate) / perSecond);
    const filled = this.#tokens === null ? most : this.#tokens + ((nowMs - this.#atMs) * rate) / 1000;
    this.#tokens = Math.min(most, filled);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    this.debt += 1;
    return true;
  }

  takeMore(): void {}

  pay(): number {
    const { debt } = this;
    this.debt = 0;
    return debt;
  }

  owe(tokens: number): void {
    this.debt += tokens;
  }

  end(figures: BucketFigures, nowMs: number): void {
    if (this.#tokens !== null) this.#sinceMs = nowMs;
    else this.#average(figures, nowMs);
    this.#tokens = null;
  }

  mostAtHand(): number {
    return Infinity;
  }

  #average({ capacity, perSecond }: BucketFigures, nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    const averageMs = Math.max(average.leastMs, (average.fills * capacity * 1000) / perSecond);
    this.#useRate = this.#useRate * Math.exp(-elapsedMs / averageMs) + (this.#used * 1000) / averageMs;
    this.#used = 0;
    this.#sinceMs = nowMs;
  }
}

/**
 * All replicas together may exceed a quota by at most this fraction of the quota. All replicas together also ask for at
 * most this fraction in advance.
 */
const beyond = 0.001;

/**
 * A replica's share of a quota: its part of {@link beyond}, but at least one request. Even if much was left at the
 * store's last answer, the share is no larger: other replicas may use up the rest before the store hears of the share.
 */
export class AloneQuota implements Alone {
  debt = 0;
  /** Part of the debt that the current query reports. */
  #paying = 0;

  noteUse(): void {}

  take(figures: BucketFigures, { replicas, left }: AloneState): boolean {
    if (this.debt >= Math.min(left, Math.max(1, this.mostAtHand(figures, replicas)))) return false;
    this.debt += 1;
    return true;
  }

  takeMore(tokens: number): void {
    if (this.debt > 0) this.debt += tokens;
  }

  pay(): number {
    this.#paying = this.debt;
    return this.debt;
  }

  owe(): void {
    this.#paying = 0;
  }

  end(): void {
    this.debt -= this.#paying;
    this.#paying = 0;
  }

  mostAtHand({ capacity }: BucketFigures, replicas: number): number {
    return Math.floor((beyond * capacity) / replicas);
  }
}
