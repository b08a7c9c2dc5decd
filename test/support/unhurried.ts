import type { Patience } from '../../src/wiring/patience.ts';

/** Longer than any test waits. */
export const longMs = 600_000;

const long = { answerMs: longMs, firstMs: longMs, callMs: longMs };

/**
 * Patience of a gateway under test that no slow machine exhausts: tests of behaviour expect an answer, however late it
 * is. Tests of a deadline pass that deadline.
 */
export const unhurried: Patience = {
  deadlines: { coherenceMs: longMs, queryMs: longMs, tokensMs: longMs },
  limiter: { buckets: long, quotas: long },
};
