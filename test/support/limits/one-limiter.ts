import { noLimits, type LimitKind, type Limits } from '../../../src/domain/limits/limits.ts';
import { SharedRateLimiter, type LimiterParts } from '../../../src/limits/rate/limiter.ts';
import type { LimitedBy } from '../../../src/ports/limits/rate-limiter.ts';
import { ManualTime } from '../coherence/manual-time.ts';

/** A limiter of one replica in manual time; `added` is what it added to quotas. */
export function openLimiter(parts: Partial<LimiterParts> = {}) {
  const time = new ManualTime();
  const added: number[] = [];
  const limiter = new SharedRateLimiter({
    board: null,
    totals: {
      add: async (_replica, _batch, additions) => {
        added.push(...additions.map(({ requests }) => requests));
        return { nowMs: time.clock.wallMs(), totals: [], next: null };
      },
    },
    clock: time.clock,
    timers: time.timers,
    replicas: () => new Set(['a']),
    replicaId: () => 'a',
    randomId: () => 'm',
    ...parts,
  });
  return { time, limiter, added };
}

/** A limit of an account or key with a fixed id. */
export function limitOf(kind: LimitKind, limits: Partial<Limits>, shown = true): LimitedBy {
  return { kind, id: `${kind}-id`, limits: { ...noLimits, ...limits }, shown };
}
