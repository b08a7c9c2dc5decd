import { nearEnd, smallQuota, type MonthReading, type NearAfter } from '../../ports/limits/month-totals.ts';
import type { MonthQuota } from './month-quota.ts';

/** Milliseconds before the last round's start from which additions are read again: transactions end out of order. */
const overlapMs = 5_000;
const fromBeginning: NearAfter = { at: new Date(0).toISOString() };

/**
 * Quotas near their end, as this replica has read them. It reads all of them in rounds of one or more pages. So a quota
 * that it did not find is not near its end, unless it was changed since the round began.
 */
export class NearQuotas {
  readonly #onNearEnd: (limit: string, used: number, quota: number) => void;
  #totals = new Map<string, number>();
  #ending = new Set<string>();
  #told = new Set<string>();
  /** Times of changes that no whole round has covered yet. */
  readonly #changed = new Map<string, number>();
  #allChangedMs = -Infinity;
  #after = fromBeginning;
  #round: { readonly beganMs: number; readonly storeMs: number } | undefined;
  #readMs = -Infinity;

  constructor(onNearEnd: (limit: string, used: number, quota: number) => void) {
    this.#onNearEnd = onNearEnd;
  }

  /** Start of the last whole round; `-Infinity` before the first. */
  get readMs(): number {
    return this.#readMs;
  }

  /** Position of the next page. */
  get after(): NearAfter {
    return this.#after;
  }

  /** Number of quotas, used here, that are near their end. */
  get ending(): number {
    return this.#ending.size;
  }

  /** Whether a change waits for a reading. */
  get isAwaited(): boolean {
    return this.#changed.size > 0 || this.#readMs < this.#allChangedMs;
  }

  beginMonth(): void {
    this.#totals = new Map();
    this.#ending = new Set();
    this.#told = new Set();
  }

  totalOf(limit: string): number | undefined {
    return this.#totals.get(limit);
  }

  /** Whether no reading covers the last change of this quota yet. */
  isDoubtful(limit: string): boolean {
    return this.#changed.has(limit) || this.#readMs < this.#allChangedMs;
  }

  /** Notes that the limit may have been changed or removed. */
  changed(limit: string, nowMs: number): void {
    this.#changed.set(limit, nowMs);
    this.#ending.delete(limit);
  }

  /** Notes that any limit may have been changed. */
  allChanged(nowMs: number): void {
    this.#allChangedMs = nowMs;
    this.#ending.clear();
  }

  /**
   * Takes in that a page was read.
   *
   * @param beganMs start of the reading, on the limiter's clock
   * @returns whether the round goes on
   */
  turnPage({ nowMs, next }: MonthReading, beganMs: number): boolean {
    this.#round ??= { beganMs, storeMs: nowMs };
    if (next !== null) {
      this.#after = next;
      return true;
    }
    this.#readMs = this.#round.beganMs;
    this.#after = { at: new Date(this.#round.storeMs - overlapMs).toISOString() };
    this.#round = undefined;
    for (const [limit, atMs] of this.#changed) if (atMs <= this.#readMs) this.#changed.delete(limit);
    return false;
  }

  /** Keeps a total for the case that the limit is forgotten here. @param quota of this month, if it is in memory */
  note(limit: string, used: number, quota: MonthQuota | undefined): void {
    if (quota?.isCurrent === true) this.look(limit, used, quota.quota);
    if (quota === undefined || quota.quota <= smallQuota || used >= nearEnd * quota.quota)
      this.#totals.set(limit, used);
    else this.#totals.delete(limit);
  }

  /** Counts a quota as near its end, or no longer; reports it once. */
  look(limit: string, used: number, quota: number): void {
    if (used < nearEnd * quota) {
      this.#ending.delete(limit);
      this.#told.delete(limit);
      return;
    }
    this.#ending.add(limit);
    if (this.#told.has(limit)) return;
    this.#told.add(limit);
    this.#onNearEnd(limit, used, quota);
  }

  /** Forgets a quota that no longer exists. */
  drop(limit: string): void {
    this.#ending.delete(limit);
    this.#told.delete(limit);
  }
}
