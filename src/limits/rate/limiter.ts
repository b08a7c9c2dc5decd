import {
  isQuota,
  limitPeriods,
  sameLimits,
  type LimitKind,
  type Limits,
} from '../../domain/limits/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LimiterEvents } from '../../ports/limits/limiter-events.ts';
import type { Full, LimitedBy, LimitState, RateLimiter, Taken } from '../../ports/limits/rate-limiter.ts';
import type { TokenStore } from '../../ports/limits/token-store.ts';
import type { Timers } from '../../ports/timers.ts';
import { applyLimits, LimitedByKind, newLimited, type Limited } from './limited.ts';
import type { Portion } from './portion.ts';
import { patienceWith, Questions, type LimiterPatience } from './questions.ts';
import { retryAfterS, scarcer, stateOf } from './states.ts';
import { tellStores } from './telling.ts';
import { WaitingRequest, type WaitingParts } from './waiting-request.ts';

export interface LimiterParts {
  /** Store that holds the tokens of per-second and per-minute limits. */
  readonly buckets: TokenStore;
  /** Store that holds the tokens of per-day and per-month limits. */
  readonly quotas: TokenStore;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Returns the number of running replicas, this one included; `null` if it is unknown. */
  readonly replicas: () => number | null;
  readonly events?: LimiterEvents;
  readonly patience?: LimiterPatience;
  /** Approximate maximum number of accounts and keys to keep in memory. */
  readonly mostTracked?: number;
}

/** Number of replicas to assume while the real number is unknown. */
const unknownReplicas = 4;
/** Interval in milliseconds between two sweeps that forget unused limits. */
const lookMs = 500;
const lookedAt = 5_000;
/**
 * Milliseconds without use after which limits are forgotten. `forgetShortMs` applies instead while more than
 * `mostTracked` accounts and keys are in memory.
 */
const forgetMs = 10_000;
const forgetShortMs = 2_000;

/** A quota counts as nearly used up if at most this fraction of it is left. */
const nearEnd = 0.1;

const order: Record<LimitKind, number> = { api_key: 0, sub_account: 1, parent: 2 };

/**
 * Enforces limits across all replicas. A shared store holds each limit's tokens, as a bucket or a quota. This replica
 * may keep a few of them on hand, so that most requests need not wait for the store. See `docs/limits.md` and
 * `docs/maintainers/decisions/rate-limits.md`.
 */
export class SharedRateLimiter implements RateLimiter {
  readonly #parts: LimiterParts;
  readonly #limited: LimitedByKind;
  readonly #buckets: Questions;
  readonly #quotas: Questions;
  readonly #waiting: WaitingParts;
  #stopLooking: () => void = () => undefined;

  constructor(parts: LimiterParts) {
    const { clock, timers, events = {}, patience = patienceWith(1_000), mostTracked = 200_000 } = parts;
    this.#parts = parts;
    this.#limited = new LimitedByKind(mostTracked, (limited, isFull) => this.#mayForget(limited, isFull));
    const replicas = (): number => parts.replicas() ?? unknownReplicas;
    const common = {
      ...{ clock, timers, replicas },
      onAway: (away: boolean, error: unknown) => events.onDegraded?.(away, error),
      onAnswered: (questions: number, ms: number) => events.onAnswered?.(questions, ms),
    };
    this.#buckets = new Questions({ ...common, store: parts.buckets, patience: patience.buckets });
    this.#quotas = new Questions({ ...common, store: parts.quotas, patience: patience.quotas });
    this.#waiting = {
      ...{ timers, replicas, nowMs: () => clock.monotonicMs() },
      questionsOf: (portion) => this.#questionsOf(portion),
    };
  }

  /** Starts the timer that forgets unused limits. {@link take} works even without it. */
  start(): void {
    this.#stopLooking = this.#parts.timers.after(lookMs, () => {
      this.#limited.sweep(lookedAt);
      this.start();
    });
  }

  /** Returns the tokens on hand to the stores, and stops. */
  async stop(): Promise<void> {
    this.#stopLooking();
    await Promise.all([this.#buckets.stop(), this.#quotas.stop()]);
  }

  /** Whether this replica is admitting requests from its own shares of the limits, because a store is unreachable. */
  get degraded(): boolean {
    return this.#buckets.isDegraded || this.#quotas.isDegraded;
  }

  /** Number of accounts and keys in memory. */
  get tracked(): number {
    return this.#limited.size;
  }

  /** Number of quotas with at most a tenth left, among those that this replica has used recently. */
  get quotasNearEnd(): number {
    let near = 0;
    for (const { portions } of this.#limited.all()) {
      for (const { figures, known } of portions)
        if (isQuota(figures.period) && known <= nearEnd * figures.capacity) near += 1;
    }
    return near;
  }

  take(by: readonly LimitedBy[], later: (result: Taken | Full) => void): Taken | Full | null {
    const nowMs = this.#parts.clock.monotonicMs();
    const found: Found = by.map((each) => this.#of(each, nowMs));
    let full: Portion | null = null;
    let hasAll = true;
    for (const portions of found) {
      for (const portion of portions) {
        portion.noteRequest(nowMs);
        if (portion.isEmpty(nowMs)) full = first(full, portion);
        hasAll &&= portion.hasToken(nowMs);
      }
    }
    if (full !== null) return this.#rejected(by, found, full);
    if (!hasAll) return this.#takeLater(by, found, later);
    for (const portions of found) {
      for (const portion of portions) {
        portion.take();
        if (portion.needsToAsk(nowMs)) this.#questionsOf(portion).ask(portion);
      }
    }
    return this.#admitted(by, found);
  }

  async look(by: readonly LimitedBy[]): Promise<readonly LimitState[]> {
    const nowMs = this.#parts.clock.monotonicMs();
    const portions = [...by]
      .sort((a, b) => order[a.kind] - order[b.kind])
      .flatMap((each) => this.#of(each, nowMs));
    await Promise.all(portions.map((portion) => this.#questionsOf(portion).refresh(portion)));
    return portions.map((portion) => stateOf(portion, this.#parts.clock));
  }

  /**
   * Takes the tokens that are on hand, waits for the stores to supply the others, and then calls `later`. If the stores
   * of all missing tokens are unreachable, returns the result right away.
   */
  #takeLater(
    by: readonly LimitedBy[],
    found: Found,
    later: (result: Taken | Full) => void,
  ): Taken | Full | null {
    const request = new WaitingRequest(found.flat(), this.#waiting);
    const result = (): Taken | Full => {
      const full = request.empty.reduce(first, null);
      const unknown = request.unknown.reduce(first, null);
      if (full === null && unknown === null) return this.#admitted(by, found);
      request.putBack();
      return full === null ? this.#guessed(unknown as Portion) : this.#rejected(by, found, full);
    };
    return request.end(() => later(result())) ? result() : null;
  }

  #admitted(by: readonly LimitedBy[], found: Found): Taken {
    for (const portions of found) for (const portion of portions) portion.underWay += 1;
    const { clock } = this.#parts;
    return {
      full: false,
      get scarcest() {
        return scarcestOf(by, found, clock);
      },
      giveBack: () => this.#giveBack(found),
      takeUnits: (units, told) => this.#takeUnits(found, units, told),
    };
  }

  #rejected(by: readonly LimitedBy[], found: Found, full: Portion): Full {
    const { clock } = this.#parts;
    const { period, unit } = full.figures;
    const retryAfter = retryAfterS(full, clock.monotonicMs());
    const common = { full: true, confirmed: true, kind: full.kind, period, unit } as const;
    return { ...common, retryAfterS: retryAfter, scarcest: scarcestOf(by, found, clock) };
  }

  /** Rejects without an answer of the store. */
  #guessed({ kind, figures: { period, unit } }: Portion): Full {
    this.#parts.events?.onGuessed?.();
    return { full: true, confirmed: false, kind, period, unit, retryAfterS: 1, scarcest: null };
  }

  #giveBack(found: Found): void {
    for (const portions of found) {
      for (const portion of portions) {
        if (!portion.ended() || portion.isGone) continue;
        portion.putBack();
        this.#questionsOf(portion).watch(portion);
      }
    }
  }

  #takeUnits(found: Found, units: number, told: () => void): boolean {
    const beyond: Portion[] = [];
    for (const portions of found) {
      for (const portion of portions) {
        const mayPutBack = portion.ended();
        if (portion.figures.unit !== 'units' || portion.isGone || (units === 0 && !mayPutBack)) continue;
        const questions = this.#questionsOf(portion);
        if (portion.takeMore(units - 1)) beyond.push(portion);
        // The token that a worthless request took may be the last one. Another replica may need it.
        else if (units === 0 && portion.hasSurplus(this.#waiting.nowMs(), this.#waiting.replicas()))
          questions.ask(portion);
        questions.watch(portion);
      }
    }
    return tellStores(beyond, this.#waiting, told);
  }

  #questionsOf({ figures }: Portion): Questions {
    return isQuota(figures.period) ? this.#quotas : this.#buckets;
  }

  /**
   * Returns the portions of an account or key, one per limit. If its limits have changed, applies the new ones first.
   */
  #of(by: LimitedBy, nowMs: number): readonly Portion[] {
    const { kind, id, limits } = by;
    const there = this.#limited.get(kind, id);
    if (there === undefined) {
      const limited = newLimited(by, limits, nowMs);
      this.#apply(limited, limits, nowMs);
      if (limited.portions.length > 0) this.#limited.add(limited);
      return limited.portions;
    }
    there.lastUseMs = nowMs;
    if (there.limits !== limits && !sameLimits(there.limits, limits)) this.#apply(there, limits, nowMs);
    return there.portions;
  }

  #apply(limited: Limited, limits: Limits, nowMs: number): void {
    for (const gone of applyLimits(limited, limits, nowMs)) {
      gone.isGone = true;
      this.#questionsOf(gone).forget(gone);
    }
  }

  #mayForget({ portions, lastUseMs }: Limited, isFull: boolean): boolean {
    if (this.#parts.clock.monotonicMs() - lastUseMs < (isFull ? forgetShortMs : forgetMs)) return false;
    if (!portions.every((portion) => portion.isForgettable)) return false;
    for (const portion of portions) this.#questionsOf(portion).forget(portion);
    return true;
  }
}

/** Portions of a request's limits, grouped by account or key. */
type Found = readonly (readonly Portion[])[];

/**
 * Returns one of two portions: the portion whose limit a rejection should name. The kind that comes first in `order`
 * wins. If both portions are of the same kind, the shorter period wins, and requests before units.
 */
function first(before: Portion | null, portion: Portion): Portion {
  return before === null || rank(portion) < rank(before) ? portion : before;
}

function rank({ kind, figures }: Portion): number {
  const units = figures.unit === 'units' ? 0.5 : 0;
  return order[kind] * limitPeriods.length + limitPeriods.indexOf(figures.period) + units;
}

function scarcestOf(by: readonly LimitedBy[], found: Found, clock: Clock): LimitState | null {
  let scarcest: LimitState | null = null;
  for (let i = 0; i < found.length; i++) {
    if (by[i]?.shown !== true) continue;
    for (const portion of found[i] ?? []) scarcest = scarcer(scarcest, stateOf(portion, clock));
  }
  return scarcest;
}
