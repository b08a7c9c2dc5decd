import { limitName } from '../../domain/limits/limits.ts';
import type { LimitState } from '../../ports/limits/rate-limiter.ts';
import { withoutNamed } from './header-rules.ts';

const ours: ReadonlySet<string> = new Set(['ratelimit', 'ratelimit-policy']);

/**
 * Returns a response's `RateLimit-Policy` and `RateLimit` headers (draft-ietf-httpapi-ratelimit-headers, structured
 * fields of RFC 9651), as a flat list of names and values. Both headers describe a single limit. Among the limits that
 * the caller may see, it is the one with the smallest fraction left.
 */
export function rateLimitHeaders(state: LimitState): string[] {
  const { kind, unit, quota, windowS, remaining, resetS } = state;
  const name = `"${limitName(kind, state)}"`;
  // Without `qu`, a quota counts requests.
  const counted = unit === 'requests' ? '' : `;qu="${unit}"`;
  return [
    'ratelimit-policy',
    `${name};q=${quota};w=${windowS}${counted}`,
    'ratelimit',
    `${name};r=${remaining};t=${resetS}`,
  ];
}

/**
 * Replaces the upstream's rate limit headers with the gateway's own, because the upstream does not know the gateway's
 * limits.
 *
 * @param headers flat list of names and values
 * @param limit headers from {@link rateLimitHeaders}
 */
export function withRateLimit(headers: readonly string[], limit: readonly string[]): string[] {
  const kept = withoutNamed(headers, ours);
  kept.push(...limit);
  return kept;
}
