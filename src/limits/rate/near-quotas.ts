import { nearEnd, smallQuota, type MonthReading, type NearAfter } from '../../ports/limits/month-totals.ts';
import type { MonthQuota } from './month-quota.ts';

/** What was added to since this long before the last reading is read again: transactions end out of order. */
const overlapMs = 5_000;
const fromBeginning: NearAfter = { at: new Date(0).toISOString() };

/**
 * What this replica has read of the quotas near their end. It reads all of them in rounds of a page or more, so what it did
 * not find is not near its end, unless the quota was changed since the round began.
 */
export class NearQuotas {
  readonly #onNearEnd: (limit: string, used: number, quota: number) => void;
  #totals = new Map<string, number>();
  #ending = new Set<string>();
  #told = new Set<string>();
  /** When they were changed, those of which that is not in a whole round yet. */
  readonly #changed = new Map<string, number>();
  #allChangedMs = -Infinity;
  #after = fromBeginning;
  #round: { readonly beganMs: number; readonly storeMs: number } | undefined;
  #readMs = -Infinity;

  constructor(onNearEnd: (limit: string, used: number, quota: number) => void) {
    this.#onNearEnd = onNearEnd;
  }

  /** When the last whole round began; `-Infinity` before there was one. */
  get readMs(): number {
    return this.#readMs;
  }

  /** What is to be read next. */
  get after(): NearAfter {
    return this.#after;
  }

  /** How many quotas that were used here are near their end. */
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

  /** Whether a change of this quota may not have been read yet. */
  isDoubtful(limit: string): boolean {
    return this.#changed.has(limit) || this.#readMs < this.#allChangedMs;
  }

  /** The limit may have been changed, or taken away. */
  changed(limit: string, nowMs: number): void {
    this.#changed.set(limit, nowMs);
    this.#ending.delete(limit);
  }

  /** Any limit may have been. */
  allChanged(nowMs: number): void {
    this.#allChangedMs = nowMs;
    this.#ending.clear();
  }

  /**
   * A page was read.
   *
   * @param beganMs when, on the clock of the limiter
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

  /** Keeps a total that was read, should the limit be forgotten here. @param quota of this month, where it is in memory */
  note(limit: string, used: number, quota: MonthQuota | undefined): void {
    if (quota?.isCurrent === true) this.look(limit, used, quota.quota);
    if (quota === undefined || quota.quota <= smallQuota || used >= nearEnd * quota.quota)
      this.#totals.set(limit, used);
    else this.#totals.delete(limit);
  }

  /** Counts a quota as near its end, or no longer; tells of it once. */
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

  /** There is no quota any more. */
  drop(limit: string): void {
    this.#ending.delete(limit);
    this.#told.delete(limit);
  }
}
