import type { FactKey } from '../ports/facts.ts';

/**
 * Coherence events, for metrics, readiness and usage. Every listener is optional. Listeners run on the hot path, so
 * they must not throw or block.
 */
export interface CoherenceEvents {
  /** A request was decided from memory, without waiting. */
  cacheHit?(): void;
  /** A request had to wait for a fact or for the lease. */
  cacheMiss?(): void;
  /** A key was rejected because memory records that it does not exist. */
  negativeHit?(): void;
  /** A value was too old for this replica to use, so the fact is read again. */
  staleRefused?(from: 'shared-cache' | 'source'): void;
  sharedCacheHit?(): void;
  sharedCacheMiss?(): void;
  /**
   * A value in the shared cache was stamped ahead of this replica's position, so the fact is read from the source
   * instead.
   */
  sharedCacheAhead?(): void;
  breakerState?(state: 'closed' | 'open' | 'half-open'): void;
  /** @param ms time from the start of the renewal until the new deadline was set */
  leaseRenewed?(ms: number): void;
  leaseRenewalFailed?(error: unknown): void;
  /** The lease ran out before it was renewed. */
  leaseLapsed?(): void;
  /**
   * An account was given a quota. Requests counted before this call were decided without the quota, later ones with it.
   * This replica confirms the change after the returned promise has resolved. The promise must not reject, and must
   * resolve well before the lease ends.
   */
  quotaSet?(): Promise<void>;
  /**
   * Memory held values for these facts that differed from the store's, and no logged change explains the difference.
   * Memory now holds the store's values.
   */
  factsDiffered?(keys: ReadonlySet<FactKey>): void;
  /** This replica lost track of the log and started over, so anything may have changed. */
  forgotten?(): void;
  /**
   * A mutation has finished waiting for the replicas.
   *
   * @param timedOut number of replicas whose lease ran out before they confirmed
   */
  barrierWait?(ms: number, timedOut: number): void;
}
