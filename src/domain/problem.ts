import type { LimitName } from './limits/limits.ts';

/**
 * Every problem that a client can get, one row per code. The client sees the row and a `detail` text, but nothing
 * internal. The `cause` of a {@link ProblemError} only goes to the log. `docs/errors.md` is tested against this table.
 */
export const catalogue = {
  invalid_target: { status: 400, title: 'The request target is not acceptable' },
  invalid_request: { status: 400, title: 'The request is not valid' },
  invalid_acting_tenant: { status: 400, title: 'The acting tenant header is not valid' },
  acting_tenant_required: { status: 400, title: 'The acting tenant header is required' },
  scope_not_grantable: { status: 400, title: 'A sub-account key may not hold this scope' },
  unauthenticated: { status: 401, title: 'A valid credential is required' },
  invalid_api_key: { status: 401, title: 'The API key is not known' },
  api_key_revoked: { status: 401, title: 'The API key was revoked' },
  api_key_expired: { status: 401, title: 'The API key has expired' },
  account_suspended: { status: 403, title: 'The account is suspended' },
  account_deactivated: { status: 403, title: 'The sub-account is deactivated' },
  parent_key_required: { status: 403, title: 'A parent API key is required' },
  insufficient_scope: { status: 403, title: 'The API key lacks a scope' },
  insufficient_role: { status: 403, title: 'The operator lacks a role' },
  acting_tenant_forbidden: { status: 403, title: 'This key may not act as that tenant' },
  acting_tenant_unknown: { status: 403, title: 'There is no such tenant to act as' },
  acting_tenant_deactivated: { status: 403, title: 'The tenant to act as is deactivated' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  api_key_taken: { status: 409, title: 'The API key belongs to another account' },
  still_active: { status: 409, title: 'The account is still active' },
  id_taken: { status: 409, title: 'The id is taken' },
  external_id_taken: { status: 409, title: 'The external_id is taken' },
  key_not_active: { status: 409, title: 'The API key is no longer active' },
  key_rotated: { status: 409, title: 'The API key was rotated already' },
  plan_in_use: { status: 409, title: 'Accounts have the plan' },
  limit_reached: { status: 409, title: 'A limit is reached' },
  idempotency_in_flight: {
    status: 409,
    title: 'The first request with this Idempotency-Key is still running',
  },
  length_required: { status: 411, title: 'The request needs a Content-Length' },
  payload_too_large: { status: 413, title: 'The request body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  expectation_failed: { status: 417, title: 'The expectation cannot be met' },
  idempotency_mismatch: { status: 422, title: 'The Idempotency-Key was used for another request' },
  upgrade_required: { status: 426, title: 'Another version of the protocol is required' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  rate_limited: { status: 429, title: 'A limit of requests is reached' },
  quota_exceeded: { status: 429, title: 'A quota of requests is used up' },
  headers_too_large: { status: 431, title: 'The request headers are too large or too many' },
  internal: { status: 500, title: 'The gateway failed' },
  upstream_unreachable: { status: 502, title: 'The upstream could not be reached' },
  unavailable: { status: 503, title: 'The gateway cannot decide safely right now' },
  overloaded: { status: 503, title: 'The gateway is overloaded' },
  upstream_timeout: { status: 504, title: 'The upstream did not answer in time' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

/** The `code` member of a problem body. Programs can rely on it, because codes never change. */
export type ProblemCode = keyof typeof catalogue;

/**
 * A fault in a request. `pointer` is a JSON pointer into the body (RFC 6901), `?name` for a query parameter, or the
 * name of a header.
 */
export interface FieldFault {
  readonly pointer: string;
  readonly detail: string;
}

/**
 * Limit that caused a 429, for metrics:
 * - `requests_in_flight`: a tenant's requests in flight (`limits.in_flight_per_tenant`)
 * - `websockets`: a tenant's WebSockets (`websockets` of a route)
 * - `changes`, `reads`: changes or reads per second (`limits.changes_per_second`, `limits.reads_per_second`)
 * - `changes_of_day`: what changes leave in a day (`events.bytes_per_day`, ten times `limits.keys_per_account`)
 * - `look_ups`: look-ups of facts
 * - `store_queue`: statements that wait for the store
 * - `open_route`: requests per second of a client's network on an open route (`open_per_second` of a route)
 * - any other value: a limit of a key or account, by its name in the `RateLimit` header
 */
export type ReachedLimit =
  | 'requests_in_flight'
  | 'websockets'
  | 'connections'
  | 'event_streams'
  | 'changes'
  | 'changes_of_day'
  | 'reads'
  | 'look_ups'
  | 'store_queue'
  | 'open_route'
  | LimitName;

/** Reason for rejecting a request. It becomes an `application/problem+json` response body (RFC 9457). */
export interface Problem {
  readonly code: ProblemCode;
  /** Text for the client's developer: what is wrong and how to fix it, with no internal details. */
  readonly detail: string;
  readonly errors?: readonly FieldFault[];
  /** Value of `Retry-After`, in whole seconds. */
  readonly retryAfter?: number;
  /** Methods for the `Allow` header of a 405. */
  readonly allow?: readonly string[];
  /** Limit that was reached, for metrics; it is not in the body. */
  readonly limit?: ReachedLimit;
  /** Extension members of the body, such as the missing scope. */
  readonly extra?: Readonly<Record<string, string | boolean>>;
}

/** An error that carries a problem. The client gets the problem; `cause` only goes to the log. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.detail, options);
    this.name = 'ProblemError';
    this.problem = problem;
  }
}

/** Returns the HTTP status for a problem code. */
export function problemStatus(code: ProblemCode): number {
  return catalogue[code].status;
}
