import type { KeyDigest } from '../domain/api-key.ts';
import type { AccountId } from '../domain/ids.ts';
import type { AccountFact, FactKey, KeyFact, PlanFact, Seq } from './facts.ts';

/** A fact that must be loaded before a decision is possible. An evaluation returns this instead of a decision. */
export class MissingFact {
  readonly key: FactKey;
  /**
   * Tenant whose request needs the fact. The look-up waits in this tenant's queue. Set only if the fact is about an
   * account that the request names: any parent may name any account, so {@link key} does not show which parent asks.
   */
  readonly tenant: AccountId | undefined;

  constructor(key: FactKey, tenant?: AccountId) {
    this.key = key;
    this.tenant = tenant;
  }
}

/**
 * Facts that a decision may use in this tick. `undefined` means that a fact is not in memory (return a
 * {@link MissingFact}); `null` means that it does not exist.
 */
export interface Facts {
  key(digest: KeyDigest): KeyFact | null | undefined;
  account(id: AccountId): AccountFact | null | undefined;
  subAccountByExternalId(parent: AccountId, externalId: string): AccountId | null | undefined;
  activeSubAccounts(parent: AccountId): number | null | undefined;
  plan(name: string): PlanFact | null | undefined;
}

/** How new the facts of a replica are. */
export interface FactsAge {
  /** Id of the replica. */
  readonly replica: string;
  /** Log position up to which the facts include every change. */
  readonly applied: Seq;
  /** Milliseconds for which a change may have been committed without being among the facts. */
  readonly ageMs: number;
}

/** Decides from facts. Synchronous and without side effects, because it may run several times for one request. */
export type Evaluate<Decision> = (facts: Facts) => Decision | MissingFact;

/**
 * Source of facts for decisions. The implementation in `coherence/` promises that no fact is stale.
 *
 * A decision is valid only in the tick that made it, so act on it before awaiting anything:
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
   * @returns `undefined` if a fact must be loaded first, or the lease must be renewed first; {@link Lookup.load} waits
   * for that
   */
  decide<Decision>(evaluate: Evaluate<Decision>): Decision | undefined;

  /**
   * Returns a number that changes whenever the facts do. If it has changed since a decision, the decision must be made
   * again.
   */
  factsVersion(): number;

  /**
   * Whether a decision made in this tick may still take effect. Facts do not change within a tick, but the lease may
   * have run out while the process was suspended mid-tick. Call this right before writing a request.
   */
  mayAct(): boolean;

  /**
   * Whether bytes may pass in this tick for a request that was admitted earlier. Once this replica has been unable to
   * reach the store for too long, they may not: the request's key may have been revoked. Call this right before each
   * write of what a client or an upstream has sent.
   */
  mayPass(): boolean;

  /**
   * Starts the look-ups for a request that has just arrived.
   *
   * @param from the client's network; API key look-ups take turns by network, because a key's tenant is not known yet
   */
  lookUp(from?: string): Lookup;

  /**
   * Calls `listener` with facts that permit less than before (a revoked key, a deactivated or suspended account),
   * before this replica confirms the change. The listener ends the exchanges that depend on these facts and returns how
   * many it ended.
   *
   * @returns function that removes the listener
   */
  onRevoked(listener: (keys: ReadonlySet<FactKey>) => number): () => void;

  /**
   * Calls `listener` with API keys whose records have changed without a revocation: their expiry may be different now.
   *
   * @returns function that removes the listener
   */
  onKeysChanged(listener: (keys: ReadonlySet<FactKey>) => void): () => void;

  /**
   * Calls `listener` when this replica cannot tell which facts have changed: {@link mayPass} has become false, the log
   * was pruned past its position, or the database was replaced by another one. The listener must end every exchange that
   * depends on facts.
   *
   * @returns function that removes the listener
   */
  onEnded(listener: () => void): () => void;
}

/** The look-ups for one request. Facts loaded for the request are used even if memory does not keep them. */
export interface Lookup {
  /** Decides like {@link Directory.decide}, but also uses the facts loaded for this request. */
  decide<Decision>(evaluate: Evaluate<Decision>): Decision | undefined;

  /**
   * Loads the fact that the last {@link Lookup.decide} was missing, or waits for the lease to be renewed.
   *
   * @throws ProblemError `unavailable`, `overloaded` or `too_many_requests` if no safe decision is possible in time
   */
  load(): Promise<void>;
}

/**
 * Decides for a caller that may act in a later tick, although the decision may then be out of date. That is safe for a
 * management call, because the change itself checks the caller again, and for an explanation, because it changes
 * nothing. It is also safe for a running request's expiry, which is read again whenever the key changes.
 *
 * @param from as in {@link Directory.lookUp}
 * @throws ProblemError as {@link Lookup.load} does
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
