import type { FactKey } from '../ports/facts.ts';

/**
 * Events of coherence, for metrics, readiness and usage. Any listener may be missing. Listeners run on the hot path, so
 * they must neither throw nor block.
 */
export interface CoherenceEvents {
  /** A request was decided from memory, without a wait. */
  cacheHit?(): void;
  /** A request had to wait for a fact or for the lease. */
  cacheMiss?(): void;
  /** A key was rejected because memory knows that it does not exist. */
  negativeHit?(): void;
  /** A value was too old for this replica, so the value is read again. */
  staleRefused?(from: 'shared-cache' | 'source'): void;
  sharedCacheHit?(): void;
  sharedCacheMiss?(): void;
  /** A value in the shared cache has a stamp beyond this replica's position, so the source was asked. */
  sharedCacheAhead?(): void;
  breakerState?(state: 'closed' | 'open' | 'half-open'): void;
  /** @param ms duration of the renewal, until the new deadline was set */
  leaseRenewed?(ms: number): void;
  leaseRenewalFailed?(error: unknown): void;
  /** The lease ran out before it was renewed. */
  leaseLapsed?(): void;
  /**
   * An account got a quota. This replica confirms the change only after the promise has resolved, so the promise must
   * resolve well before the lease ends.
   */
  quotaSet?(): Promise<void>;
  /**
   * Memory and store held different values of these facts without a logged change. Memory now holds the store's values.
   */
  factsDiffered?(keys: ReadonlySet<FactKey>): void;
  /** This replica lost track of the log and began anew, so anything may have changed. */
  forgotten?(): void;
  /**
   * A mutation waited for the replicas.
   *
   * @param timedOut number of replicas whose lease ran out before they confirmed
   */
  barrierWait?(ms: number, timedOut: number): void;
}
