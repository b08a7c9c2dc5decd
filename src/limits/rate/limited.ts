import type { LimitKind, Limits } from '../../domain/limits/limits.ts';
import type { LimitedBy } from '../../ports/limits/rate-limiter.ts';
import type { MonthQuota } from './month-quota.ts';
import type { RateBucket } from './rate-bucket.ts';

/** State of an account or key with a limit on this replica. */
export interface Limited {
  /** Name in stores: the kind and the id. */
  readonly limit: string;
  readonly kind: LimitKind;
  readonly id: string;
  limits: Limits;
  bucket: RateBucket | null;
  quota: MonthQuota | null;
  /**
   * When its bucket is reported to the others: not, in the next round, or in an earlier exchange; see `share-sync.ts`.
   */
  told: 'not' | 'next' | 'soon';
  /** Earliest time of an early exchange, and the pause after it, in milliseconds. */
  soonMs: number;
  pauseMs: number;
  lastUseMs: number;
}

/** Makes one without bucket and quota. */
export function newLimited({ kind, id, limits }: LimitedBy, nowMs: number): Limited {
  return {
    limit: `${kind}:${id}`,
    kind,
    id,
    limits,
    bucket: null,
    quota: null,
    told: 'not',
    soonMs: 0,
    pauseMs: 25,
    lastUseMs: nowMs,
  };
}

export function sameLimits(a: Limits, b: Limits): boolean {
  return (
    a.requestsPerSecond === b.requestsPerSecond &&
    a.burst === b.burst &&
    a.requestsPerMonth === b.requestsPerMonth
  );
}

/** Limits in use, about `most` of them. A sweep forgets those that were not used for a while. */
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

  /** Checks the next `steps` limits, and forgets those that hold no more than a new one would. */
  sweep(steps: number): void {
    const isFull = this.size > this.#most;
    for (let step = 0; step < steps; step++) {
      this.#sweep ??= this.#all();
      const { value, done } = this.#sweep.next() as IteratorResult<Limited, undefined>;
      if (done === true) {
        this.#sweep = undefined;
        return;
      }
      if (this.#mayForget(value, isFull)) this.#of[value.kind].delete(value.id);
    }
  }

  *#all(): Iterator<Limited> {
    for (const all of Object.values(this.#of)) yield* all.values();
  }
}
