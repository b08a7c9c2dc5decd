import { isQuota, limitName, type LimitId, type LimitKind } from './limits.ts';
import type { Problem } from '../problem.ts';

/**
 * Returns the problem to report if a request exceeds a limit of its key, sub-account or parent.
 *
 * @param retryAfterS whole seconds until the limit may admit another request
 * @param confirmed `false` if the store did not say in time whether there is room; see `Full.confirmed`
 */
export function limitFull(kind: LimitKind, limitId: LimitId, retryAfterS: number, confirmed = true): Problem {
  const { period, unit } = limitId;
  const limit = isQuota(period) ? `quota of ${unit} for this ${period}` : `limit of requests per ${period}`;
  return {
    code: confirmed && isQuota(period) ? 'quota_exceeded' : 'rate_limited',
    detail: `${limitedOnes[kind]} ${confirmed ? 'has' : 'may have'} reached its ${limit}. The request was not forwarded: send it again after Retry-After.`,
    retryAfter: retryAfterS,
    limit: limitName(kind, limitId),
    extra: { limited: kind, ...(confirmed ? {} : { confirmed }) },
  };
}

const limitedOnes: Readonly<Record<LimitKind, string>> = {
  api_key: 'This API key',
  sub_account: 'This sub-account',
  parent: 'The parent account, together with its sub-accounts,',
};
