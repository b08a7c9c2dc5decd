import type { Clock } from '../../ports/clock.ts';
import {
  nearEnd,
  smallQuota,
  type MonthAddition,
  type MonthTotals,
} from '../../ports/limits/month-totals.ts';
import type { Timers } from '../../ports/timers.ts';
import type { Limited } from './limited.ts';
import { MonthQuota, type MonthView } from './month-quota.ts';
import type { Month } from './states.ts';
import type { Fleet } from './tuning.ts';

/** How often totals are read, and added to where there is much to add. */
const everyMs = 1_000;
/** Between two readings, for a quota of which little is held here. */
const soonMs = 100;
/** After this what was used is added however little it is. */
const latestMs = 10_000;
/** Additions of one batch at most. */
const mostAdditions = 1_000;
/** Limits near their end that were added to since this long before the last reading are read again: transactions end out of order. */
const overlapMs = 5_000;

export interface MonthSyncParts {
  readonly totals: MonthTotals;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly fleet: Fleet;
  /** By its name in the store. */
  readonly find: (limit: string) => Limited | undefined;
  /** Under which name this process adds; never used before. */
  readonly replica: string;
  readonly onTrouble: (error: unknown) => void;
  /** Told once a month of each quota that is near its end. */
  readonly onNearEnd: (limit: string, used: number, quota: number) => void;
}

interface Batch {
  readonly number: number;
  readonly additions: readonly MonthAddition[];
}

/** Adds what this replica lets through of quotas to the totals of their months, and reads what all replicas did. */
export class MonthSync {
  readonly #parts: MonthSyncParts;
  readonly #used = new Set<Limited>();
  /** What is left to add of months that are over. */
  #late: MonthAddition[] = [];
  #near = new Map<string, number>();
  /** Limits of this month of whose quota little is left. */
  #nearEnd = new Set<string>();
  #batch: Batch | undefined;
  #batches = 0;
  #monthMs = 0;
  #nextMonthMs = 0;
  /** The store's clock ahead of this machine's monotonic one. */
  #aheadMs: number;
  #endedMs = 0;
  /** When the last reading began that came back. */
  #readMs = -Infinity;
  #sinceMs = 0;
  #callOff: () => void = () => undefined;
  #dueMs = Infinity;
  #busy = false;
  #stopped = false;
  #underWay: Promise<void> = Promise.resolve();

  constructor(parts: MonthSyncParts) {
    this.#parts = parts;
    this.#aheadMs = parts.clock.wallMs() - parts.clock.monotonicMs();
  }

  /** Begins to read. */
  start(): void {
    this.#wakeAt(this.#parts.clock.monotonicMs());
  }

  /** Adds what is left. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#callOff();
    await this.#underWay;
    for (const { quota } of this.#used) if (quota !== null) quota.reportedMs = -Infinity;
    if (this.#batch !== undefined) await this.#exchange().catch(() => undefined);
    while (this.#used.size > 0 || this.#late.length > 0) {
      if (!(await this.#exchange().catch(() => false))) return;
    }
  }

  /** The quota of this month. @param nowMs the monotonic clock, read just now */
  quotaOf(limited: Limited, quota: number, nowMs: number): MonthQuota {
    const storeMs = nowMs + this.#aheadMs;
    if (storeMs >= this.#nextMonthMs) this.#beginMonth(storeMs);
    const there = limited.quota;
    if (there?.monthMs === this.#monthMs) {
      if (there.quota !== quota) there.change(quota, nowMs, this.view);
      return there;
    }
    if (there !== null && there.waiting > 0) this.#late.push(this.#addition(limited, there));
    const made = new MonthQuota(quota, this.#monthMs, nowMs);
    const near = this.#near.get(limited.limit);
    if (near === undefined) made.beUnknown(this.view);
    else made.read(near, this.#readMs, this.view);
    limited.quota = made;
    return made;
  }

  /** To be called when one was taken of a quota, or none was left. */
  used(limited: Limited, quota: MonthQuota): void {
    if (quota.waiting > 0) this.#used.add(limited);
    if (quota.isLow(this.view)) {
      quota.reportedMs = -Infinity;
      this.#used.add(limited);
      this.#wakeAt(this.#endedMs + soonMs);
    }
  }

  /** How many quotas in use here have little left. */
  get nearEnd(): number {
    return this.#nearEnd.size;
  }

  /** By what quotas are divided. */
  get view(): MonthView {
    return { replicas: this.#parts.fleet.replicas, readMs: this.#readMs };
  }

  /** @param nowMs the monotonic clock, read just now */
  monthAt(nowMs: number): Month {
    return {
      lengthMs: this.#nextMonthMs - this.#monthMs,
      untilNextMs: this.#nextMonthMs - (nowMs + this.#aheadMs),
    };
  }

  #beginMonth(nowMs: number): void {
    const at = new Date(nowMs);
    this.#monthMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
    this.#nextMonthMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
    this.#near = new Map();
    this.#nearEnd = new Set();
  }

  #wakeAt(atMs: number): void {
    if (this.#stopped || this.#busy || atMs >= this.#dueMs) return;
    this.#callOff();
    this.#dueMs = atMs;
    const inMs = Math.max(0, atMs - this.#parts.clock.monotonicMs());
    this.#callOff = this.#parts.timers.after(inMs, () => {
      this.#underWay = this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#busy = true;
    this.#dueMs = Infinity;
    const more = await this.#exchange().catch((error: unknown) => {
      this.#parts.onTrouble(error);
      return false;
    });
    this.#busy = false;
    this.#endedMs = this.#parts.clock.monotonicMs();
    const isSoon = more || [...this.#used].some(({ quota }) => quota?.reportedMs === -Infinity);
    this.#wakeAt(this.#endedMs + (isSoon ? soonMs : everyMs));
  }

  /** @returns whether there is more to add */
  async #exchange(): Promise<boolean> {
    const { totals, replica, clock } = this.#parts;
    this.#batch ??= this.#nextBatch();
    const beganMs = clock.monotonicMs();
    const reading = await totals.add(replica, this.#batch.number, this.#batch.additions, this.#sinceMs);
    const { additions } = this.#batch;
    this.#batch = undefined;
    this.#aheadMs = reading.nowMs - clock.monotonicMs();
    this.#sinceMs = reading.nowMs - overlapMs;
    if (reading.nowMs >= this.#nextMonthMs || reading.nowMs < this.#monthMs) this.#beginMonth(reading.nowMs);
    this.#readMs = beganMs;
    for (const { limit, monthMs } of additions) {
      const quota = this.#parts.find(limit)?.quota;
      if (quota?.monthMs === monthMs) quota.adding = 0;
    }
    for (const { limit, monthMs, used } of reading.totals) this.#read(limit, monthMs, used);
    return additions.length >= mostAdditions;
  }

  #read(limit: string, monthMs: number, used: number): void {
    if (monthMs !== this.#monthMs) return;
    const quota = this.#parts.find(limit)?.quota;
    if (quota?.monthMs === monthMs) {
      quota.read(used, this.#readMs, this.view);
      this.#noteNearEnd(limit, used, quota.quota);
    }
    // Kept should the limit be forgotten here.
    if (quota === undefined || quota === null || quota.quota <= smallQuota || used >= nearEnd * quota.quota)
      this.#near.set(limit, used);
  }

  #noteNearEnd(limit: string, used: number, quota: number): void {
    if (used < nearEnd * quota) this.#nearEnd.delete(limit);
    else if (!this.#nearEnd.has(limit)) {
      this.#nearEnd.add(limit);
      this.#parts.onNearEnd(limit, used, quota);
    }
  }

  #nextBatch(): Batch {
    const nowMs = this.#parts.clock.monotonicMs();
    const additions = this.#late.splice(0, mostAdditions);
    for (const limited of this.#used) {
      if (additions.length >= mostAdditions) break;
      const { quota } = limited;
      if (quota === null || (quota.waiting === 0 && quota.reportedMs !== -Infinity))
        this.#used.delete(limited);
      else if (nowMs - quota.reportedMs >= latestMs) {
        this.#used.delete(limited);
        additions.push(this.#addition(limited, quota));
        quota.adding = quota.waiting;
        quota.waiting = 0;
        quota.reportedMs = nowMs;
      }
    }
    return { number: (this.#batches += 1), additions };
  }

  #addition({ limit }: Limited, { monthMs, waiting, quota }: MonthQuota): MonthAddition {
    return { limit, monthMs, requests: waiting, quota };
  }
}
