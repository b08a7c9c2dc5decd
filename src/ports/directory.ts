import type { KeyDigest } from '../domain/api-key.ts';
import type { AccountId } from '../domain/ids.ts';
import type { AccountFact, FactKey, KeyFact } from './facts.ts';

/** A fact that must be loaded before a decision can be made: an evaluation returns it in place of a decision. */
export class MissingFact {
  readonly key: FactKey;
  /** Who asks for it, where its name does not say that: an account may be asked for by any parent. Tenants take turns. */
  readonly tenant: AccountId | undefined;

  constructor(key: FactKey, tenant?: AccountId) {
    this.key = key;
    this.tenant = tenant;
  }
}

/**
 * Facts that may decide a request in this tick. `undefined`: not in memory, return a {@link MissingFact};
 * `null`: there is none.
 */
export interface Facts {
  key(digest: KeyDigest): KeyFact | null | undefined;
  account(id: AccountId): AccountFact | null | undefined;
  subAccountByExternalId(parent: AccountId, externalId: string): AccountId | null | undefined;
  activeSubAccounts(parent: AccountId): number | null | undefined;
}

/** Makes a decision from facts. Synchronous and free of effects: it may run several times for one request. */
export type Evaluate<Decision> = (facts: Facts) => Decision | MissingFact;

/**
 * Where decisions get their facts. One implementation, `coherence/`, which promises that none of them is stale.
 *
 * A decision is true in the tick that made it and not beyond, so it is acted on before anything is awaited:
 *
 *     let decision = directory.decide(evaluate);
 *     if (decision === undefined) {
 *       const lookup = directory.lookUp();
 *       while ((decision = lookup.decide(evaluate)) === undefined) await lookup.load();
 *     }
 *     // nothing is awaited between here and what the decision allows
 */
export interface Directory {
  /**
   * Decides from memory.
   *
   * @returns `undefined` where a fact must be loaded first, or this replica may not decide before it has renewed its
   *   lease; {@link Directory.lookUp} waits for both
   */
  decide<Decision>(evaluate: Evaluate<Decision>): Decision | undefined;

  /** Another number whenever facts have changed: decisions that were made before must be looked at again. */
  factsVersion(): number;

  /**
   * Whether a decision of this very tick may still be acted on. Nothing was awaited, so facts are as they were; but the
   * process may have been stopped in the middle of the tick, and the lease have ended meanwhile. Asked in the instant
   * before a request is written.
   */
  mayAct(): boolean;

  /**
   * Begins the look-ups of one request, which has arrived just now.
   *
   * @param from the network of its client: an API key that is looked up says of no tenant, so networks take turns
   */
  lookUp(from?: string): Lookup;

  /**
   * Calls `listener` with facts that no longer permit what they did (a revoked key, a deactivated or suspended account),
   * before this replica confirms the change: exchanges that depend on them must be ended, and their number returned.
   * Returns how to stop.
   */
  onRevoked(listener: (keys: ReadonlySet<FactKey>) => number): () => void;

  /**
   * Calls `listener` with API keys whose records have changed and may still permit what they did: they may expire at another
   * time now. Returns how to stop.
   */
  onKeysChanged(listener: (keys: ReadonlySet<FactKey>) => void): () => void;

  /**
   * Calls `listener` when this replica can no longer tell what changed while it was away (the log was pruned past
   * it, or the database is another one): every exchange must be ended. Returns how to stop.
   */
  onForgotten(listener: () => number): () => void;
}

/** The look-ups of one request. What was loaded for it decides it even where memory keeps no such fact. */
export interface Lookup {
  /** As {@link Directory.decide}, over memory and over what was loaded for this request. */
  decide<Decision>(evaluate: Evaluate<Decision>): Decision | undefined;

  /**
   * Waits for whatever the last {@link Lookup.decide} was missing.
   *
   * @throws ProblemError `unavailable` or `overloaded` where no safe decision can be made in time
   */
  load(): Promise<void>;
}

/**
 * Decides for a caller that has more to wait for before it acts, so that a tick more does not matter: a management call
 * whose effect the store decides, an explanation.
 *
 * @param from as in {@link Directory.lookUp}
 * @throws ProblemError `unavailable` or `overloaded`, as {@link Lookup.load} does
 */
export async function decideWithLookups<Decision>(
  directory: Pick<Directory, 'decide' | 'lookUp'>,
  evaluate: Evaluate<Decision>,
  from?: string,
): Promise<Decision> {
  let decision = directory.decide(evaluate);
  if (decision !== undefined) return decision;
  const lookup = directory.lookUp(from);
  while ((decision = lookup.decide(evaluate)) === undefined) await lookup.load();
  return decision;
}
