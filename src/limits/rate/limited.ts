import { isQuota, limitsSet, type LimitKind, type Limits } from '../../domain/limits/limits.ts';
import type { LimitedBy } from '../../ports/limits/rate-limiter.ts';
import { AloneBucket, AloneQuota } from './alone.ts';
import { bucketPace, Portion, quotaPace } from './portion.ts';

/** This replica's state for one account or key that has limits. */
export interface Limited {
  readonly kind: LimitKind;
  readonly id: string;
  limits: Limits;
  /** One portion per limit, shortest period first. */
  portions: readonly Portion[];
  lastUseMs: number;
}

/** Creates a state without portions. {@link applyLimits} adds them. */
export function newLimited({ kind, id }: LimitedBy, limits: Limits, nowMs: number): Limited {
  return { kind, id, limits, portions: [], lastUseMs: nowMs };
}

/**
 * Applies new limits. Returns the portions of limits that are no longer set. Limits that are still set keep their
 * tokens.
 */
export function applyLimits(limited: Limited, limits: Limits, nowMs: number): readonly Portion[] {
  const before = limited.portions;
  const { kind, id } = limited;
  limited.limits = limits;
  limited.portions = limitsSet(limits).map((figures) => {
    const there = before.find(
      (portion) => portion.figures.period === figures.period && portion.figures.unit === figures.unit,
    );
    there?.change(figures);
    if (there !== undefined) return there;
    return isQuota(figures.period)
      ? new Portion({ kind, id, figures, pace: quotaPace, alone: new AloneQuota() }, nowMs)
      : new Portion({ kind, id, figures, pace: bucketPace, alone: new AloneBucket(nowMs) }, nowMs);
  });
  return before.filter((portion) => !limited.portions.includes(portion));
}

/**
 * Holds the accounts and keys whose limits are in use. Sweeps forget accounts and keys that were not used recently.
 * While more than `most` accounts and keys are held, sweeps forget them sooner.
 */
export class LimitedByKind {
  readonly #most: number;
  readonly #mayForget: (limited: Limited, isFull: boolean) => boolean;
  readonly #of: Record<LimitKind, Map<string, Limited>> = {
    api_key: new Map(),
    sub_account: new Map(),
    parent: new Map(),
  };
  #sweep: Iterator<Limited> | undefined;

  constructor(most: number, mayForget: (limited: Limited, isFull: boolean) => boolean) {
    this.#most = most;
    this.#mayForget = mayForget;
  }

  get size(): number {
    return this.#of.api_key.size + this.#of.sub_account.size + this.#of.parent.size;
  }

  get(kind: LimitKind, id: string): Limited | undefined {
    return this.#of[kind].get(id);
  }

  add(limited: Limited): void {
    this.#of[limited.kind].set(limited.id, limited);
  }

  /** Checks the next `steps` accounts and keys, and forgets the unused ones. */
  sweep(steps: number): void {
    const isFull = this.size > this.#most;
    for (let step = 0; step < steps; step++) {
      this.#sweep ??= this.all();
      const { value, done } = this.#sweep.next() as IteratorResult<Limited, undefined>;
      if (done === true) {
        this.#sweep = undefined;
        return;
      }
      if (this.#mayForget(value, isFull)) this.#of[value.kind].delete(value.id);
    }
  }

  *all(): Generator<Limited, undefined> {
    for (const all of Object.values(this.#of)) yield* all.values();
  }
}
