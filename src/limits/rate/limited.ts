import type { LimitKind, Limits } from '../../domain/limits/limits.ts';
import type { LimitedBy } from '../../ports/limits/rate-limiter.ts';
import type { MonthQuota } from './month-quota.ts';
import type { RateBucket } from './rate-bucket.ts';

/** What this replica knows of an account or a key that has a limit. */
export interface Limited {
  /** The kind and the id, as stores name it. */
  readonly limit: string;
  readonly kind: LimitKind;
  readonly id: string;
  limits: Limits;
  bucket: RateBucket | null;
  quota: MonthQuota | null;
  /** Its bucket is to be told to the others with the next exchange, or with an earlier one; see `share-sync.ts`. */
  told: 'not' | 'next' | 'soon';
  /** No earlier exchange before this, and the pause after it. */
  soonMs: number;
  pauseMs: number;
  lastUseMs: number;
}

/** As it is before it has a bucket or a quota. */
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

/** Those limits that are in use, at most so many: the ones not used for longest are looked for to be forgotten. */
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

  /** Looks at some more of them, and forgets what is as good as new. */
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
