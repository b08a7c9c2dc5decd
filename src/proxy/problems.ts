import { servedMethods } from '../domain/acting-decision.ts';
import type { Problem } from '../domain/problem.ts';
import { overloaded } from '../limits/load-shedding.ts';
import { UpstreamTimeout, WaitedInVain } from './upstream/errors.ts';

// Problems that the proxy itself detects. Problems of a request's target, head, key or acting header are defined
// elsewhere.

/** The acting rules do not cover the method, so the request is not proxied. */
export const methodNotServed: Problem = {
  code: 'method_not_allowed',
  detail: 'This method is not forwarded.',
  allow: servedMethods,
};

/** The tenant, its parent, or a network without a key has used up its share of the route's `websockets`. */
export const tooManyWebSockets: Problem = {
  code: 'too_many_requests',
  detail: 'The full share of the WebSockets to this service is open already. Close some of them.',
  retryAfter: 1,
  limit: 'websockets',
};

/** The request waited in vain: its tenant or parent had its whole share of the connections to the service. */
const connectionsFull: Problem = {
  code: 'too_many_requests',
  detail: 'The full share of the connections to this service is in use. Wait for responses to some requests.',
  retryAfter: 1,
  limit: 'connections',
};

/** The tenant has as many event streams as leave an eighth of its connections and places to its requests. */
export const tooManyEventStreams: Problem = {
  code: 'too_many_requests',
  detail: 'As many event streams are open as may be. Close some of them.',
  retryAfter: 1,
  limit: 'event_streams',
};

/**
 * An upstream that accepts only HTTP/1.0 needs to know a body's length in advance. To find the length of a chunked
 * body, the gateway first has to hold the whole body. This body is too long to be held.
 */
export const lengthRequired: Problem = {
  code: 'length_required',
  detail: 'This body is too long to be sent in chunks here: send it with a Content-Length.',
};

/** Facts kept changing before the request could be sent, so the gateway gave up. */
export const keepsChanging: Problem = {
  code: 'unavailable',
  detail: 'The key or the accounts of this request keep changing. Try again in a moment.',
  retryAfter: 1,
};

/** A revocation ended the request after it had been sent, so the upstream may have acted on it. */
export const accessRevoked: Problem = {
  code: 'unavailable',
  detail: 'Access was revoked while the request was in flight. Whether it took effect is not known.',
  retryAfter: 1,
};

/** An exception in the gateway's own code ended the request. */
export const ownFault = { code: 'internal', detail: 'The gateway failed.' } as const satisfies Problem;

/**
 * Returns the problem for a request that failed at the upstream or on the way there. The problem does not reveal the
 * upstream's host or port, or what went wrong there.
 */
export function upstreamProblem(error: unknown): Problem {
  if (error instanceof WaitedInVain) return error.isShareFull ? connectionsFull : overloaded;
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
