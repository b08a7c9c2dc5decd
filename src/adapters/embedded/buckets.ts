import { askBucket, type BucketLevel } from '../../domain/limits/bucket.ts';
import type { Clock } from '../../ports/clock.ts';
import type { TokenStore } from '../../ports/limits/token-store.ts';

/** Number of requests for tokens after which full buckets are removed from memory. */
const sweepEvery = 10_000;

/**
 * Buckets in this process's memory, for a store that no other process uses. Full buckets can be removed, since an
 * unknown bucket counts as full.
 */
export function embeddedBuckets(clock: Pick<Clock, 'monotonicMs'>): TokenStore {
  const levels = new Map<string, BucketLevel & { readonly fullMs: number }>();
  let asked = 0;
  return {
    ask: async (questions) => {
      const nowMs = clock.monotonicMs();
      if ((asked += questions.length) >= sweepEvery) {
        asked = 0;
        for (const [limit, { fullMs }] of levels) if (fullMs <= nowMs) levels.delete(limit);
      }
      return questions.map((question) => {
        const { limit, capacity, perSecond } = question;
        const { after, answer } = askBucket(levels.get(limit), question, question, nowMs);
        const fullMs = nowMs + ((capacity - after.tokens) * 1000) / perSecond;
        levels.set(limit, { tokens: after.tokens, atMs: after.atMs, fullMs });
        return answer;
      });
    },
  };
}
