import type { FactKey } from '../ports/facts.ts';

/**
 * What happens inside, for metrics and limits. Every member may be left out, and then costs nothing.
 * Listeners are called on the hot path: they must not throw and not wait.
 */
export interface CoherenceEvents {
  /** A request was decided from memory, without waiting. */
  cacheHit?(): void;
  /** A request had to wait for a fact or for the lease. */
  cacheMiss?(): void;
  /** A key was rejected because memory knows that it does not exist. */
  negativeHit?(): void;
  /** A value was too old for this replica and was read again. */
  staleRefused?(from: 'shared-cache' | 'source'): void;
  sharedCacheHit?(): void;
  sharedCacheMiss?(): void;
  /** A value of the shared cache has a stamp that this replica has not reached: the source was asked. */
  sharedCacheAhead?(): void;
  breakerState?(state: 'closed' | 'open' | 'half-open'): void;
  /** @param ms from its start to the new deadline */
  leaseRenewed?(ms: number): void;
  /** @param error why */
  leaseRenewalFailed?(error: unknown): void;
  /** The lease ran out before it was renewed. */
  leaseLapsed?(): void;
  /** Something of an account has changed, perhaps its limits; told before this replica confirms it. @param id of the account */
  accountChanged?(id: string): void;
  /** Facts in memory had another value than the store, though no change was logged. They were replaced. */
  factsDiffered?(keys: ReadonlySet<FactKey>): void;
  /** This replica lost track of the log and began anew: anything may have changed. */
  forgotten?(): void;
  /** A mutation waited for the replicas. @param timedOut how many of them did not confirm before their lease had run out */
  barrierWait?(ms: number, timedOut: number): void;
}
