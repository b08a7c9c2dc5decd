import type { LimitKind, Limits } from '../../domain/limits/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LimiterEvents } from '../../ports/limits/limiter-events.ts';
import type { MonthTotals } from '../../ports/limits/month-totals.ts';
import type { ShareBoard } from '../../ports/limits/share-board.ts';
import type { Full, LimitedBy, LimitState, RateLimiter, Taken } from '../../ports/limits/rate-limiter.ts';
import type { Timers } from '../../ports/timers.ts';
import { KnownFleet } from './known-fleet.ts';
import { LimitedByKind, newLimited, sameLimits, type Limited } from './limited.ts';
import { MonthSync } from './month-sync.ts';
import { RateBucket } from './rate-bucket.ts';
import { ShareSync } from './share-sync.ts';
import { monthState, retryAfterS, secondState, scarcer } from './states.ts';
import { PacedClock } from './paced-clock.ts';

export interface LimiterParts {
  /** `null` if there is only one replica. */
  readonly board: ShareBoard | null;
  readonly totals: MonthTotals;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Names of the replicas that decide, as far as known; `null` if nothing is known yet. */
  readonly replicas: () => ReadonlySet<string> | null;
  /** Name of this replica among them. */
  readonly replicaId: () => string;
  /** Makes fresh random text, different with each call. */
  readonly randomId: () => string;
  readonly events?: LimiterEvents;
  /** Approximate maximum of limits in memory. */
  readonly mostTracked?: number;
}

/** Interval in milliseconds at which the limiter forgets unused limits and counts the replicas. */
const lookMs = 500;
const lookedAt = 5_000;
/** Milliseconds without use after which a limit with a full bucket is forgotten; if memory is short, any limit is. */
const forgetMs = 10_000;
const forgetShortMs = 2_000;

/** One reading of this machine's monotonic clock, and the same at the pace of the store's clock. */
interface Instant {
  readonly ms: number;
  readonly ownMs: number;
}

const order: Record<LimitKind, number> = { api_key: 0, sub_account: 1, parent: 2 };

/**
 * Limits over all replicas. Each limit takes from this replica's share, computed from the reports of all replicas; see
 * `docs/limits.md` and `docs/decisions/rate-limits.md`.
 */
export class SharedRateLimiter implements RateLimiter {
  readonly #parts: LimiterParts;
  readonly #clock: PacedClock;
  readonly #limited: LimitedByKind;
  readonly #shares: ShareSync | null;
  readonly #months: MonthSync;
  readonly #fleet: KnownFleet;
  #series = 0;
  #stopLooking: () => void = () => undefined;

  constructor(parts: LimiterParts) {
    const { board, clock, timers, events = {}, mostTracked = 200_000 } = parts;
    this.#parts = parts;
    this.#clock = new PacedClock(clock);
    const fleet = new KnownFleet(board !== null);
    this.#fleet = fleet;
    this.#limited = new LimitedByKind(mostTracked, (limited, isFull) => this.#mayForget(limited, isFull));
    this.#shares =
      board &&
      new ShareSync({
        ...{ board, clock, timers, fleet, pacedClock: this.#clock, replicaId: parts.replicaId },
        onDegraded: (degraded, error) => events.onDegraded?.(degraded, error),
        onExchanged: (limits, ms) => events.onExchanged?.(limits, ms),
      });
    this.#months = new MonthSync({
      ...{ totals: parts.totals, clock, timers, fleet, replica: parts.randomId() },
      find: (limit) => this.#find(limit),
      onTrouble: (error) => events.onMonthsFailed?.(error),
      onNearEnd: (limit, used, quota) => events.onQuotaNearEnd?.(limit, used, quota),
    });
  }

  /** Begins to talk to the stores. Requests can be taken before, from the share of a replica that knows nothing. */
  start(): void {
    this.#months.start();
    this.#look();
  }

  /** Reports the last use, and ends. */
  async stop(): Promise<void> {
    this.#stopLooking();
    await this.#shares?.stop();
    await this.#months.stop();
  }

  /** Whether this replica keeps its last shares because it cannot hear from the others. */
  get degraded(): boolean {
    return this.#shares?.degraded ?? false;
  }

  /** Number of limits in memory. */
  get tracked(): number {
    return this.#limited.size;
  }

  /** Number of quotas of this month, used here, with a tenth or less left. */
  get quotasNearEnd(): number {
    return this.#months.nearEnd;
  }

  /**
   * Notes that limits of an account may have changed; called before this replica confirms the change.
   *
   * @param id of the account; `null` if it may be any
   */
  changed(id: string | null): void {
    if (id === null) this.#months.changed(null);
    else for (const kind of ['sub_account', 'parent']) this.#months.changed(`${kind}:${id}`);
  }

  take(by: readonly LimitedBy[]): Taken | Full {
    const now = this.#now();
    const found = by.map((each) => this.#of(each, now));
    const full = this.#firstFull(found, now);
    let scarcest: LimitState | null = null;
    for (let i = 0; i < found.length; i++) {
      const limited = found[i] ?? null;
      if (limited === null) continue;
      if (full === null) {
        limited.bucket?.take();
        limited.quota?.take();
      }
      if (limited.bucket !== null) this.#shares?.asked(limited, limited.bucket, now.ms);
      if (limited.quota !== null) this.#months.used(limited, limited.quota);
      if (by[i]?.shown === true) scarcest = this.#scarcest(scarcest, limited, now);
    }
    if (full === null) return { full: false, scarcest };
    const { limited, period } = full;
    const { kind } = limited;
    const waitS = retryAfterS(limited, period, this.#months.monthAt(now.ownMs));
    return { full: true, kind, period, scarcest, retryAfterS: waitS };
  }

  look(by: readonly LimitedBy[]): readonly LimitState[] {
    const now = this.#now();
    return [...by]
      .sort((a, b) => order[a.kind] - order[b.kind])
      .flatMap((each) => {
        const limited = this.#of(each, now);
        return limited === null ? [] : this.#states(limited, now);
      });
  }

  /** Reads the clocks once for all limits of a request. */
  #now(): Instant {
    const ownMs = this.#parts.clock.monotonicMs();
    return { ms: this.#clock.nowMs(ownMs), ownMs };
  }

  /** Returns the limit that the rejection names. Every limit counts as asked for. */
  #firstFull(
    found: readonly (Limited | null)[],
    { ms, ownMs }: Instant,
  ): { readonly limited: Limited; readonly period: Full['period'] } | null {
    let full: Limited | null = null;
    let period: Full['period'] = 'second';
    for (const limited of found) {
      if (limited === null) continue;
      const hasSecond = limited.bucket === null || limited.bucket.hasRoom(ms, this.#fleet);
      const hasMonth = limited.quota === null || limited.quota.hasRoom(ownMs, this.#months.view);
      if (hasSecond && hasMonth) continue;
      if (full !== null && order[full.kind] <= order[limited.kind]) continue;
      full = limited;
      period = hasSecond ? 'month' : 'second';
    }
    return full && { limited: full, period };
  }

  #states({ kind, bucket, quota }: Limited, { ms, ownMs }: Instant): LimitState[] {
    return [
      ...(bucket === null ? [] : [secondState(kind, bucket, ms)]),
      ...(quota === null ? [] : [monthState(kind, quota, this.#months.monthAt(ownMs))]),
    ];
  }

  #scarcest(before: LimitState | null, limited: Limited, { ms, ownMs }: Instant): LimitState | null {
    const { kind, bucket, quota } = limited;
    let scarcest = before;
    if (bucket !== null) scarcest = scarcer(scarcest, secondState(kind, bucket, ms));
    if (quota !== null) scarcest = scarcer(scarcest, monthState(kind, quota, this.#months.monthAt(ownMs)));
    return scarcest;
  }

  /** Returns the state of a limit, with its present figures; `null` if there is no limit. */
  #of(by: LimitedBy, now: Instant): Limited | null {
    const { kind, id, limits } = by;
    const there = this.#limited.get(kind, id);
    if (there === undefined) {
      if (limits.requestsPerSecond === null && limits.requestsPerMonth === null) return null;
      return this.#adopt(newLimited(by, now.ms), limits, now);
    }
    there.lastUseMs = now.ms;
    if (there.limits !== limits && !sameLimits(there.limits, limits)) return this.#adopt(there, limits, now);
    const { requestsPerMonth } = limits;
    if (requestsPerMonth !== null) this.#months.quotaOf(there, requestsPerMonth, now.ownMs);
    return there;
  }

  #adopt(limited: Limited, limits: Limits, { ms: nowMs, ownMs }: Instant): Limited {
    limited.limits = limits;
    this.#limited.add(limited);
    const { requestsPerSecond: rate, requestsPerMonth } = limits;
    if (rate === null) limited.bucket = null;
    else {
      const burst = limits.burst ?? rate;
      if (limited.bucket === null)
        limited.bucket = new RateBucket(rate, burst, this.#fleet, nowMs, (this.#series += 1));
      else limited.bucket.change(rate, burst, this.#fleet, nowMs);
    }
    if (requestsPerMonth !== null) this.#months.quotaOf(limited, requestsPerMonth, ownMs);
    else this.#months.drop(limited);
    return limited;
  }

  #find(limit: string): Limited | undefined {
    const [kind = '', id = ''] = limit.split(':', 2);
    return this.#limited.get(kind as LimitKind, id);
  }

  #mayForget({ bucket, quota, told, lastUseMs }: Limited, isFull: boolean): boolean {
    const nowMs = this.#clock.nowMs();
    if (nowMs - lastUseMs < (isFull ? forgetShortMs : forgetMs)) return false;
    if (told !== 'not' || (quota !== null && quota.waiting + quota.adding > 0)) return false;
    // While other replicas cannot be heard, a forgotten limit must come back with no more than it had.
    return bucket === null || (isFull && !this.#fleet.degraded) || bucket.isFullAt(nowMs, this.#fleet);
  }

  #look(): void {
    const { board, replicas, timers } = this.#parts;
    const known = replicas();
    if (board !== null && known !== null) this.#fleet.note(known);
    this.#limited.sweep(lookedAt);
    this.#stopLooking = timers.after(lookMs, () => this.#look());
  }
}
