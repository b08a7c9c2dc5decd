import type { Seq } from './facts.ts';

/** Proof that a mutation is enforced; goes to the client as `X-Service-Enforced`. */
export interface Receipt {
  /** Replicas that confirmed the change or whose lease has run out. */
  readonly replicas: number;
  /** Of those, the ones that timed out instead of confirming: they decide nothing until they have caught up. */
  readonly timedOut: number;
  /** Open streams that were ended. */
  readonly streamsClosed: number;
  /** Milliseconds waited. */
  readonly ms: number;
}

/** Waits until every replica decides by what was committed. */
export interface Barrier {
  /**
   * Resolves once no replica can decide by a state older than `seq`, a position of the history `incarnation`.
   * Rejects with `ProblemError` `unavailable` where that cannot be known; the mutation is committed all the same.
   */
  enforced(seq: Seq, incarnation: string): Promise<Receipt>;
}
