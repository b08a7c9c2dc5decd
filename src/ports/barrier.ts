import type { Seq } from './facts.ts';

/** Proof that a change is enforced, sent to the client as `X-Service-Enforced`. */
export interface Receipt {
  /** Number of replicas that confirmed the change or whose lease has run out. */
  readonly replicas: number;
  /**
   * Number of replicas that timed out instead of confirming; included in `replicas`. Such a replica decides nothing
   * until it has caught up.
   */
  readonly timedOut: number;
  /** Number of active exchanges that were ended. */
  readonly streamsClosed: number;
  /** Milliseconds that the change waited for the replicas. */
  readonly ms: number;
}

/** Waits until every replica enforces a committed change. */
export interface Barrier {
  /**
   * Resolves once no replica can base a decision on facts older than `seq`, a position in the history `incarnation`.
   * Rejects with `ProblemError` `unavailable` if that cannot be confirmed; the change stays committed.
   */
  enforced(seq: Seq, incarnation: string): Promise<Receipt>;
}
