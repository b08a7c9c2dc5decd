import type { Deadlines } from '../adapters/postgres/store.ts';
import type { LimiterPatience } from '../limits/rate/questions.ts';

/**
 * How long a gateway waits for its stores before it answers without them. Passed in, so that a test of behaviour waits
 * for a slow machine, while a test of a deadline sets that deadline.
 */
export interface Patience {
  /** Deadlines that replace those of the store; `coherenceMs` otherwise follows from the lease duration. */
  readonly deadlines: Partial<Deadlines>;
  /** Replaces the usual patience with the stores of limits. */
  readonly limiter?: LimiterPatience;
}

export const usualPatience: Patience = { deadlines: {} };
