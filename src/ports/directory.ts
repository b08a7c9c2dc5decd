import type { KeyDigest } from '../domain/api-key.ts';
import type { AccountId } from '../domain/ids.ts';
import type { AccountFact, FactKey, KeyFact } from './facts.ts';

/** A fact that must be loaded before a decision can be made: the decision returns it instead of an answer. */
export class Wanted {
  readonly key: FactKey;

  constructor(key: FactKey) {
    this.key = key;
  }
}

/**
 * Facts that may decide a request in this tick. `undefined`: not held, return a {@link Wanted};
 * `null`: there is none.
 */
export interface Facts {
  key(digest: KeyDigest): KeyFact | null | undefined;
  account(id: AccountId): AccountFact | null | undefined;
  subAccountByExternalId(parent: AccountId, externalId: string): AccountId | null | undefined;
  activeSubAccounts(parent: AccountId): number | null | undefined;
}

/** Where decisions get their facts. One implementation, `coherence/`, which promises that none of them is stale. */
export interface Directory {
  /**
   * Runs `attempt` until it needs nothing more, then `done` in the same tick, so that what was decided is
   * still true when it is acted on. Without a miss both run before `settle` returns.
   *
   * @param attempt synchronous and free of effects: it may run several times
   * @param failed called instead of `done` with a `ProblemError` `unavailable` (or `overloaded`) where no safe
   *   decision can be made, and with whatever `attempt` or `done` throws
   */
  settle<T>(
    attempt: (facts: Facts) => T | Wanted,
    done: (outcome: T) => void,
    failed: (error: unknown) => void,
  ): void;

  /**
   * Calls `listener` with facts that changed for the worse (a revoked key, a deactivated or suspended account),
   * before this replica confirms the change: streams that live by them must be ended, and their number returned.
   * Returns how to stop.
   */
  onWithdrawn(listener: (keys: ReadonlySet<FactKey>) => number): () => void;

  /**
   * Calls `listener` when this replica can no longer tell what changed while it was away (the log was pruned past
   * it, or the database is another one): every stream must be ended. Returns how to stop.
   */
  onForgotten(listener: () => number): () => void;
}
