import { noLimits, type LimitKind, type Limits } from '../../../src/domain/limits/limits.ts';
import { embeddedBuckets } from '../../../src/adapters/embedded/buckets.ts';
import { SharedRateLimiter, type LimiterParts } from '../../../src/limits/rate/limiter.ts';
import type { Full, LimitedBy, Taken } from '../../../src/ports/limits/rate-limiter.ts';
import { ManualTime } from '../coherence/manual-time.ts';
import { ModelQuotas } from './model-stores.ts';

/** A limiter of one replica in manual time. */
export function openLimiter(parts: Partial<LimiterParts> = {}) {
  const time = new ManualTime();
  const quotas = new ModelQuotas(() => time.clock.wallMs());
  const limiter = new SharedRateLimiter({
    buckets: embeddedBuckets(time.clock),
    quotas: { ask: async (questions) => quotas.answer('a', questions) },
    clock: time.clock,
    timers: time.timers,
    replicas: () => 1,
    ...parts,
  });
  const take = (by: readonly LimitedBy[]): Promise<Taken | Full> =>
    new Promise((resolve) => {
      const result = limiter.take(by, resolve);
      if (result !== null) resolve(result);
    });
  /** How many of so many requests at once are let through. */
  const admitted = async (by: readonly LimitedBy[], count: number): Promise<number> => {
    const results = await Promise.all(Array.from({ length: count }, () => take(by)));
    return results.filter(({ full }) => !full).length;
  };
  return { time, limiter, quotas, take, admitted };
}

/** The response to a request comes, and is worth nothing. Until then its limits stay in memory. */
export function respond(result: Taken | Full): void {
  if (!result.full) result.takeUnits(0, () => undefined);
}

/** A limit of an account or key with a fixed id. */
export function limitOf(kind: LimitKind, limits: Partial<Limits>, shown = true): LimitedBy {
  return { kind, id: `${kind}-id`, limits: { ...noLimits, ...limits }, shown };
}
