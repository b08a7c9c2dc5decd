import type { Clock } from '../../ports/clock.ts';
import type { MonthAddition, MonthTotals } from '../../ports/limits/month-totals.ts';
import type { Timers } from '../../ports/timers.ts';
import { Alarm } from '../../timing/alarm.ts';
import type { Limited } from './limited.ts';
import { MonthQuota, type MonthView } from './month-quota.ts';
import { NearQuotas } from './near-quotas.ts';
import type { Month } from './states.ts';
import type { Fleet } from './tuning.ts';

/** Milliseconds between readings of the totals; large additions go out as often. */
const everyMs = 1_000;
/** Milliseconds between readings for a quota with little held here. */
const soonMs = 100;
/**
 * Milliseconds between two pages of one reading, and before a changed quota is read; replicas hear of each other
 * meanwhile.
 */
const briefMs = 20;
/** Milliseconds after which even small use is added. */
const latestMs = 10_000;
/** Most additions in one batch. */
const mostAdditions = 1_000;

export interface MonthSyncParts {
  readonly totals: MonthTotals;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly fleet: Fleet;
  /** Finds a limit by its name in the store. */
  readonly find: (limit: string) => Limited | undefined;
  /** Name under which this process adds; never used before. */
  readonly replica: string;
  readonly onTrouble: (error: unknown) => void;
  /** Called once a month for each quota near its end. */
  readonly onNearEnd: (limit: string, used: number, quota: number) => void;
}

type Batch = Readonly<{ number: number; additions: readonly MonthAddition[] }>;

/** Adds the requests that this replica admits to the totals of the month, and reads the totals of all replicas. */
export class MonthSync {
  readonly #parts: MonthSyncParts;
  readonly #alarm: Alarm;
  readonly #used = new Set<Limited>();
  /** Additions left over from earlier months. */
  #late: MonthAddition[] = [];
  readonly #near: NearQuotas;
  #batch: Batch | undefined;
  #batches = 0;
  #monthMs = 0;
  #nextMonthMs = 0;
  /** Milliseconds by which the store's clock is ahead of this machine's monotonic one. */
  #aheadMs: number;
  #endedMs = 0;

  constructor(parts: MonthSyncParts) {
    this.#parts = parts;
    this.#alarm = new Alarm(parts.clock, parts.timers, () => this.#run());
    this.#near = new NearQuotas(parts.onNearEnd);
    this.#aheadMs = parts.clock.wallMs() - parts.clock.monotonicMs();
  }

  /** Begins to read. */
  start(): void {
    this.#alarm.wakeAt(this.#parts.clock.monotonicMs());
  }

  /** Adds the rest. */
  async stop(): Promise<void> {
    await this.#alarm.stop();
    for (const { quota } of this.#used) if (quota !== null) quota.reportedMs = -Infinity;
    if (this.#batch !== undefined) await this.#exchange().catch(() => undefined);
    while (this.#used.size > 0 || this.#late.length > 0) {
      if (!(await this.#exchange().catch(() => false))) return;
    }
  }

  /** Returns the quota of this month. @param nowMs monotonic clock, read just now */
  quotaOf(limited: Limited, quota: number, nowMs: number): MonthQuota {
    const storeMs = nowMs + this.#aheadMs;
    if (storeMs >= this.#nextMonthMs) this.#beginMonth(storeMs);
    const there = limited.quota;
    if (there?.monthMs === this.#monthMs) {
      if (there.quota !== quota || !there.isCurrent) this.#change(limited, there, quota, nowMs);
      return there;
    }
    if (there !== null && there.waiting > 0) this.#late.push(this.#addition(limited, there));
    const made = new MonthQuota(quota, this.#monthMs, nowMs);
    limited.quota = made;
    const near = this.#near.totalOf(limited.limit);
    const isDoubtful = this.#near.isDoubtful(limited.limit);
    if (isDoubtful) made.doubt(nowMs);
    if (near === undefined) made.beUnknown(this.view);
    else {
      made.read(near, this.#near.readMs, this.view);
      this.#near.look(limited.limit, near, quota);
    }
    if (isDoubtful) this.#askSoon(limited, made);
    return made;
  }

  /** Removes the quota. Its use still counts if it is set again. */
  drop(limited: Limited): void {
    const { quota } = limited;
    if (quota === null) return;
    if (quota.waiting > 0) this.#late.push(this.#addition(limited, quota));
    limited.quota = null;
    this.#near.drop(limited.limit);
  }

  /**
   * Notes that a quota may have changed: earlier readings no longer say whether it is near its end, and other replicas
   * need the use of this one.
   *
   * @param limit its name in the store; `null` if it may be any
   */
  changed(limit: string | null): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (limit === null) this.#near.allChanged(nowMs);
    else {
      this.#near.changed(limit, nowMs);
      const limited = this.#parts.find(limit);
      if (limited !== undefined && limited.quota !== null) {
        limited.quota.isCurrent = false;
        this.#askSoon(limited, limited.quota);
      }
    }
    this.#alarm.wakeAt(this.#endedMs + briefMs);
  }

  /** Notes a request that was admitted, or rejected because no quota was left. */
  used(limited: Limited, quota: MonthQuota): void {
    if (quota.waiting > 0) this.#used.add(limited);
    if (quota.isLow(this.view)) this.#askSoon(limited, quota);
  }

  /** Number of quotas, used here, that are near their end. */
  get nearEnd(): number {
    return this.#near.ending;
  }

  /** View by which quotas are divided. */
  get view(): MonthView {
    return { replicas: this.#parts.fleet.replicas, readMs: this.#near.readMs };
  }

  /** @param nowMs monotonic clock, read just now */
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
    this.#near.beginMonth();
  }

  #change(limited: Limited, there: MonthQuota, quota: number, nowMs: number): void {
    there.change(quota, nowMs, this.view);
    if (there.total !== undefined) this.#near.look(limited.limit, there.total, quota);
    this.#askSoon(limited, there);
  }

  /** Adds the quota to the next batch, which returns the total of all replicas. */
  #askSoon(limited: Limited, quota: MonthQuota): void {
    quota.reportedMs = -Infinity;
    this.#used.add(limited);
    this.#alarm.wakeAt(this.#endedMs + soonMs);
  }

  /** @returns a function for the time of the next run */
  async #run(): Promise<() => number> {
    let failed = false;
    const more = await this.#exchange().catch((error: unknown) => {
      this.#parts.onTrouble(error);
      failed = true;
      return false;
    });
    this.#endedMs = this.#parts.clock.monotonicMs();
    const isBrief = more || (this.#near.isAwaited && !failed);
    const isSoon = (): boolean => [...this.#used].some(({ quota }) => quota?.reportedMs === -Infinity);
    return () => this.#endedMs + (isBrief ? briefMs : isSoon() ? soonMs : everyMs);
  }

  /** @returns whether there is more to add or to read */
  async #exchange(): Promise<boolean> {
    const { totals, replica, clock } = this.#parts;
    this.#batch ??= this.#nextBatch();
    const beganMs = clock.monotonicMs();
    const reading = await totals.add(replica, this.#batch.number, this.#batch.additions, this.#near.after);
    const { additions } = this.#batch;
    this.#batch = undefined;
    this.#aheadMs = reading.nowMs - clock.monotonicMs();
    if (reading.nowMs >= this.#nextMonthMs || reading.nowMs < this.#monthMs) this.#beginMonth(reading.nowMs);
    const goesOn = this.#near.turnPage(reading, beganMs);
    for (const { limit, monthMs } of additions) {
      const quota = this.#parts.find(limit)?.quota;
      if (quota?.monthMs === monthMs) quota.adding = 0;
    }
    for (const { limit, monthMs, used } of reading.totals) {
      if (monthMs !== this.#monthMs) continue;
      const quota = this.#parts.find(limit)?.quota;
      const present = quota?.monthMs === monthMs ? quota : undefined;
      present?.read(used, beganMs, this.view);
      this.#near.note(limit, used, present);
    }
    return goesOn || additions.length >= mostAdditions;
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
