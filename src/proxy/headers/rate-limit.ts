import { limitName } from '../../domain/limits/limits.ts';
import type { LimitState } from '../../ports/limits/rate-limiter.ts';
import { withoutNamed } from './header-rules.ts';

const ours: ReadonlySet<string> = new Set(['ratelimit', 'ratelimit-policy']);

/**
 * `RateLimit-Policy` and `RateLimit` of a response (draft-ietf-httpapi-ratelimit-headers, structured fields of RFC 9651): one limit, the
 * scarcest that its caller may see. Flat list of names and values.
 */
export function rateLimitHeaders({ kind, period, quota, windowS, remaining, resetS }: LimitState): string[] {
  const name = `"${limitName(kind, period)}"`;
  return [
    'ratelimit-policy',
    `${name};q=${quota};w=${windowS}`,
    'ratelimit',
    `${name};r=${remaining};t=${resetS}`,
  ];
}

/** Puts a limit's headers in the place of the upstream's, which knows nothing of it. @param headers flat list of names and values */
export function withRateLimit(headers: readonly string[], limit: readonly string[]): string[] {
  const kept = withoutNamed(headers, ours);
  kept.push(...limit);
  return kept;
}
