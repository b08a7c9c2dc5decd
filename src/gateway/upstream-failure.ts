import type { Problem } from '../domain/problem.ts';

/** What a client is told about a failure on the way to its upstream: neither host nor port, nor what went wrong there. */
export function upstreamProblem(error: unknown): Problem {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && timeouts.has(code) ? timedOut : unreachable;
}

const timeouts = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

const unreachable: Problem = {
  code: 'upstream_unreachable',
  detail: 'The service behind this gateway could not be reached, or broke off before it answered.',
};

const timedOut: Problem = {
  code: 'upstream_timeout',
  detail: 'The service behind this gateway did not answer in time.',
};
