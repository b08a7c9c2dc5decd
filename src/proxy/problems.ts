import { servedMethods } from '../domain/method.ts';
import type { Problem } from '../domain/problem.ts';
import { UpstreamTimeout } from './upstream/errors.ts';

/** Problems that the proxy itself sees, beside what a request's target, head, key and acting header may cause. */

export const methodNotServed: Problem = {
  code: 'method_not_allowed',
  detail: 'This method is not forwarded.',
  allow: servedMethods,
};

export const tooManyInFlight: Problem = {
  code: 'too_many_requests',
  detail: 'This tenant has too many requests in flight. Wait for responses to some of them.',
  retryAfter: 1,
};

export const tooSlow: Problem = { code: 'request_timeout', detail: 'The request body stopped coming.' };

export const keepsChanging: Problem = {
  code: 'unavailable',
  detail: 'What this request depends on keeps changing. Try again in a moment.',
  retryAfter: 1,
};

export const accessRevoked: Problem = {
  code: 'unavailable',
  detail: 'Access was revoked while the request was in flight. Whether it took effect is not known.',
  retryAfter: 1,
};

/** What a client is told about a failure on the way to its upstream: neither host nor port, nor what went wrong there. */
export function upstreamProblem(error: unknown): Problem {
  const { code } = (error ?? {}) as { code?: unknown };
  return error instanceof UpstreamTimeout || code === 'ETIMEDOUT' ? timedOut : unreachable;
}

const unreachable: Problem = {
  code: 'upstream_unreachable',
  detail: 'The service behind this gateway could not be reached, or broke off before it responded.',
};

const timedOut: Problem = {
  code: 'upstream_timeout',
  detail: 'The service behind this gateway did not respond in time.',
};
