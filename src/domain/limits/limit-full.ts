import { limitName, type LimitKind, type LimitPeriod } from './limits.ts';
import type { Problem } from '../problem.ts';

/**
 * The problem of a request that a limit of its key, its sub-account or its parent has no room for.
 *
 * @param retryAfterS whole seconds until there may be room
 */
export function limitFull(kind: LimitKind, period: LimitPeriod, retryAfterS: number): Problem {
  const per = period === 'second' ? 'at once' : 'in a month';
  return {
    code: period === 'second' ? 'rate_limited' : 'quota_exceeded',
    detail: `${limitedOnes[kind]} has sent as many requests as it may ${per}. This one was not passed on: send it again after Retry-After.`,
    retryAfter: retryAfterS,
    limit: limitName(kind, period),
    extra: { limited: kind },
  };
}

const limitedOnes: Readonly<Record<LimitKind, string>> = {
  api_key: 'This API key',
  sub_account: 'This sub-account',
  parent: 'The parent account, together with its sub-accounts,',
};
