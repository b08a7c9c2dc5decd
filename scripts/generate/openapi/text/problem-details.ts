import type { FieldFault, Problem, ProblemCode } from '../../../../src/domain/problem.ts';

interface Detail {
  readonly detail: string;
  readonly errors?: readonly FieldFault[];
  readonly extra?: NonNullable<Problem['extra']>;
  readonly instance?: string;
}

/** Details in the examples of each code. */
export const problemDetails: Readonly<Partial<Record<ProblemCode, Detail>>> = {
  invalid_target: { detail: 'The request target is refused. Its path holds a malformed percent-encoding.' },
  invalid_request: {
    detail: '`/name` is required.',
    errors: [{ pointer: '/name', detail: 'is required.' }],
  },
  invalid_acting_tenant: {
    detail:
      'X-Service-Acting-Tenant is not valid. It has another form. Send `X-Service-Acting-Tenant: self` (the parent itself), `X-Service-Acting-Tenant: <sub-account UUID>` or `X-Service-Acting-Tenant: ext:<external_id>`.',
  },
  acting_tenant_required: {
    detail: 'X-Service-Acting-Tenant is required on this call: send `self`.',
  },
  scope_not_grantable: {
    detail: '`sub_accounts:read` is for parent keys alone: a sub-account manages no sub-accounts.',
    errors: [
      {
        pointer: '/scopes/0',
        detail: '`sub_accounts:read` is for parent keys alone: a sub-account manages no sub-accounts.',
      },
    ],
  },
  unauthenticated: { detail: 'Send an API key: `Authorization: Bearer <API_KEY>`.' },
  still_active: { detail: 'Deactivate the sub-account first: POST …/deactivate.' },
  invalid_api_key: { detail: 'There is no such API key.' },
  api_key_revoked: { detail: 'This API key was revoked.' },
  api_key_expired: { detail: 'This API key has expired.' },
  account_suspended: { detail: 'The account is suspended. Contact the operator of this service.' },
  account_deactivated: {
    detail: 'The sub-account of this API key is deactivated. Its keys work again once it is reactivated.',
  },
  parent_key_required: {
    detail: 'Sub-accounts are managed with a key of their parent account. This key belongs to a sub-account.',
  },
  insufficient_scope: {
    detail: 'This request needs the scope `sub_accounts:write`, which the API key does not hold.',
    extra: { scope: 'sub_accounts:write' },
  },
  insufficient_role: {
    detail: 'This request needs the role `admin`, which the operator of this token does not have.',
    extra: { role: 'admin' },
  },
  acting_tenant_forbidden: {
    detail:
      'Management calls act as the parent account: leave X-Service-Acting-Tenant out, or send `self`. The path names the sub-account.',
  },
  acting_tenant_unknown: {
    detail: 'X-Service-Acting-Tenant names no sub-account of this account.',
    instance: '/v1/shipments',
  },
  acting_tenant_deactivated: {
    detail: 'X-Service-Acting-Tenant names a deactivated sub-account. Reactivate it, or act as another one.',
    instance: '/v1/shipments',
  },
  not_found: {
    detail: 'There is no such sub-account here.',
  },
  request_timeout: { detail: 'The request did not arrive in time.' },
  api_key_taken: {
    detail: 'Keys that belong to other accounts: 1 of 2. None was imported.',
    errors: [{ pointer: '/keys/0', detail: 'belongs to another account.' }],
  },
  id_taken: { detail: 'Another account has this id.' },
  external_id_taken: {
    detail:
      'The sub-account 0197b7e1-0f52-7c44-8a90-7b1d3c5e9f02 has this external_id. A deactivated sub-account keeps it, too.',
    extra: { sub_account_id: '0197b7e1-0f52-7c44-8a90-7b1d3c5e9f02' },
  },
  key_not_active: { detail: 'This API key is revoked or has expired, which is final. Mint a new one.' },
  key_rotated: {
    detail:
      'This API key and another one of its rotation are active; the newest is 0197b7e1-0f52-7c44-8a90-7b1d3c5e9f02. Revoke one of them first, or rotate with `expires_in` 0.',
    extra: { api_key_id: '0197b7e1-0f52-7c44-8a90-7b1d3c5e9f02' },
  },
  plan_in_use: {
    detail:
      '2 accounts have this plan (GET …/accounts?plan=): give another plan, or none, to each of them first.',
    instance: '/admin/v1/plans/gold',
  },
  limit_reached: { detail: 'At most 1000 sub-accounts are allowed.' },
  idempotency_in_flight: {
    detail:
      'The first request with this Idempotency-Key is still at work. Send this one again to learn how it went.',
  },
  payload_too_large: { detail: 'The request body is larger than this path accepts.' },
  unsupported_media_type: { detail: 'Send the body with `Content-Type: application/json`.' },
  expectation_failed: { detail: 'The only expectation known here is `100-continue`.' },
  idempotency_mismatch: {
    detail:
      'This Idempotency-Key came with another request before. A key stands for one request: take a new one for a new request.',
  },
  too_many_requests: {
    detail:
      'Too many requests of this account name accounts that were not used lately. Send fewer of them at once.',
  },
  rate_limited: {
    detail:
      'This sub-account has reached its limit of requests per second. The request was not forwarded: send it again after Retry-After.',
    extra: { limited: 'sub_account' },
    instance: '/v1/shipments',
  },
  quota_exceeded: {
    detail:
      'This sub-account has reached its quota of requests for this month. The request was not forwarded: send it again after Retry-After.',
    extra: { limited: 'sub_account' },
    instance: '/v1/shipments',
  },
  headers_too_large: { detail: 'The request headers are too large.' },
  internal: { detail: 'Something went wrong on our side. Give the request id to support: our logs have it.' },
  upstream_unreachable: {
    detail: 'The service behind this gateway could not be reached, or broke off before it responded.',
    instance: '/v1/shipments',
  },
  unavailable: {
    detail: 'The gateway cannot reach its store, and it does not guess. Try again in a moment.',
  },
  overloaded: { detail: 'The gateway has more to do than it can. Try again in a moment.' },
  upstream_timeout: {
    detail: 'The service behind this gateway did not respond in time.',
    instance: '/v1/shipments',
  },
};
