import type { Problem } from '../domain/problem.ts';
import { UpstreamTimeout } from './wire/upstream-timeout.ts';

/** What a client is told about a failure on the way to its upstream: neither host nor port, nor what went wrong there. */
export function upstreamProblem(error: unknown): Problem {
  const { code } = (error ?? {}) as { code?: unknown };
  return error instanceof UpstreamTimeout || code === 'ETIMEDOUT' ? timedOut : unreachable;
}

const unreachable: Problem = {
  code: 'upstream_unreachable',
  detail: 'The service behind this gateway could not be reached, or broke off before it answered.',
};

const timedOut: Problem = {
  code: 'upstream_timeout',
  detail: 'The service behind this gateway did not answer in time.',
};
