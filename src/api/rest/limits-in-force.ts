import { Type, type Static } from 'typebox';
import type { KeyId } from '../../domain/ids.ts';
import { isQuota, limitPeriods, limitUnits, type LimitPeriod } from '../../domain/limits/limits.ts';
import { dayMs } from '../../domain/usage.ts';
import { found } from '../../http/not-found.ts';
import type { Clock } from '../../ports/clock.ts';
import { decideWithLookups, MissingFact, type Directory } from '../../ports/directory.ts';
import { factKey } from '../../ports/facts.ts';
import type { LimitedBy, RateLimiter } from '../../ports/limits/rate-limiter.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import { closed, timestamp } from './typebox.ts';

/** One limit in a response: what it allows, what is used and left, and when all of it is available again. */
export const limitInForce = closed({
  limited: Type.Enum(['api_key', 'sub_account', 'parent']),
  per: Type.Enum([...limitPeriods]),
  unit: Type.Enum([...limitUnits]),
  limit: Type.Integer(),
  used: Type.Integer(),
  left: Type.Integer(),
  resets_at: timestamp,
});

/** Dependencies of {@link limitsInForce} and {@link limitsOfKey}. */
export interface LimitsInForceDeps {
  readonly rateLimiter: Pick<RateLimiter, 'look'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly directory: Pick<Directory, 'decide' | 'lookUp'>;
  readonly tenants: Pick<TenantStore, 'keyDigest'>;
}

/** Asks for the state of each limit that is set, without taking a unit. */
export async function limitsInForce(
  by: readonly LimitedBy[],
  { rateLimiter, clock }: Pick<LimitsInForceDeps, 'rateLimiter' | 'clock'>,
): Promise<Static<typeof limitInForce>[]> {
  const states = await rateLimiter.look(by);
  const nowMs = clock.wallMs();
  return states.map(({ kind, period, unit, quota, remaining, resetS }) => ({
    limited: kind,
    per: period,
    unit,
    limit: quota,
    used: quota - remaining,
    left: remaining,
    resets_at: new Date(resetsAtMs(period, nowMs + resetS * 1_000)).toISOString(),
  }));
}

/**
 * Returns when all of a limit is available again, in milliseconds since 1970. Days and months end at midnight (UTC).
 *
 * @param aboutMs the time, up to a second late: a state has whole seconds, rounded up a moment before
 */
function resetsAtMs(period: LimitPeriod, aboutMs: number): number {
  const stepMs = isQuota(period) ? dayMs : 1_000;
  return Math.round(aboutMs / stepMs) * stepMs;
}

/**
 * Returns the limits of a key, which all keys of its rotations share; empty if it has none.
 *
 * @throws ProblemError `not_found` if there is no such key
 */
export async function limitsOfKey(
  id: KeyId,
  { directory, tenants }: LimitsInForceDeps,
): Promise<readonly LimitedBy[]> {
  const digest = found(await tenants.keyDigest(id), 'API key');
  const key = await decideWithLookups(directory, (facts) => {
    const fact = facts.key(digest);
    return fact === undefined ? new MissingFact(factKey.key(digest)) : { fact };
  });
  const { limits, limitId } = found(key.fact, 'API key');
  return limits === null ? [] : [{ kind: 'api_key', id: limitId, limits, shown: true }];
}
