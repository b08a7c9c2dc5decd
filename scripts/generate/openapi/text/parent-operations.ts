import type { OperationTexts } from '../types.ts';

const repeatable = 'Repeating it gives the same response.';

/** The endpoints for parents, but for those of keys. */
export const parentOperations: OperationTexts = {
  'POST /v1/sub-accounts': {
    id: 'createSubAccount',
    tag: 'Sub-accounts',
    summary: 'Create a sub-account',
    description:
      'Creates a sub-account of the calling account. Once the account has an active sub-account, each of its proxied writes must name in `X-Service-Acting-Tenant` the account that it is for.',
    request: 'CreateSubAccount',
    responses: { 201: ['SubAccount', 'The sub-account was created.'] },
    problems: ['external_id_taken', 'limit_reached'],
    headers: ['Enforced', 'Replayed'],
    links: ['GetSubAccount', 'UpdateSubAccount', 'DeactivateSubAccount', 'MintApiKey', 'ListApiKeys'],
  },
  'GET /v1/sub-accounts': {
    id: 'listSubAccounts',
    tag: 'Sub-accounts',
    summary: 'List sub-accounts',
    description:
      'The sub-accounts of the calling account, newest first. Filters may be combined; a cursor is valid only with the filters of its page.',
    responses: { 200: ['SubAccountList', 'A page of sub-accounts.'] },
  },
  'GET /v1/sub-accounts/{sub_id}': {
    id: 'getSubAccount',
    tag: 'Sub-accounts',
    summary: 'Get a sub-account',
    description:
      'One sub-account by its id. Unknown ids, malformed ids and ids of other accounts get the same 404.',
    responses: { 200: ['SubAccount', 'The sub-account.'] },
  },
  'PATCH /v1/sub-accounts/{sub_id}': {
    id: 'updateSubAccount',
    tag: 'Sub-accounts',
    summary: 'Change a sub-account',
    description:
      'Changes the members that the body names and keeps the others. `metadata` and `limits` are merged: `null` removes a pair or a limit. `external_id: null` clears it. Only deactivate and reactivate change the status.',
    request: 'UpdateSubAccount',
    responses: { 200: ['SubAccount', 'The sub-account after the change.'] },
    problems: ['external_id_taken'],
    headers: ['Enforced'],
  },
  'POST /v1/sub-accounts/{sub_id}/deactivate': {
    id: 'deactivateSubAccount',
    tag: 'Sub-accounts',
    summary: 'Deactivate a sub-account',
    description: `From the 2xx on, every replica rejects its keys with 403 \`account_deactivated\` and requests that act as it with 403. Its keys are not revoked. Takes no body. ${repeatable}`,
    responses: { 200: ['SubAccount', 'The sub-account is deactivated.'] },
    headers: ['Enforced', 'Replayed'],
    links: ['ReactivateSubAccount'],
  },
  'POST /v1/sub-accounts/{sub_id}/reactivate': {
    id: 'reactivateSubAccount',
    tag: 'Sub-accounts',
    summary: 'Reactivate a sub-account',
    description: `Its keys work again, unless they were revoked or have expired. Takes no body. ${repeatable}`,
    responses: { 200: ['SubAccount', 'The sub-account is active.'] },
    headers: ['Enforced', 'Replayed'],
  },
  'PUT /v1/sub-accounts/by-external-id/{external_id}': {
    id: 'putSubAccount',
    tag: 'Sub-accounts',
    summary: 'Create or change the sub-account with an external_id',
    description:
      'Creates the sub-account, or changes it to match the body. `metadata` is merged. A deactivated sub-account stays deactivated. The call may be repeated, and takes no `Idempotency-Key`.',
    request: 'PutSubAccount',
    responses: {
      200: ['SubAccount', 'The sub-account existed, and now matches the body.'],
      201: ['SubAccount', 'The sub-account was created.'],
    },
    problems: ['limit_reached'],
    never: ['not_found'],
    headers: ['Enforced'],
  },
  'GET /v1/sub-accounts/usage': {
    id: 'getUsage',
    tag: 'Usage',
    summary: 'Report usage',
    description:
      'Requests to the API behind the gateway, by the account that each operated on; the parent has rows of its own. With `Accept: text/csv` the report has all rows of the period as CSV: `from` and `to` on the hour, `limit` and `cursor` only for JSON.',
    responses: { 200: ['UsageReport', 'A page of the report, or all of it as CSV.'] },
    problems: ['not_found'],
    headers: ['VaryAccept', 'CsvName'],
    csv: true,
  },
  'GET /v1/sub-accounts/caller': {
    id: 'getCaller',
    tag: 'Caller',
    summary: 'Get the caller',
    description: 'The account and the key that call, and how many sub-accounts are active.',
    responses: { 200: ['Caller', 'The caller.'] },
  },
  'GET /v1/sub-accounts/acting': {
    id: 'explainActing',
    tag: 'Caller',
    summary: 'Explain a decision about a request',
    description:
      'Says whether a request with the calling key would be let through, and as which account. The same functions decide about real requests. Nothing is sent to the upstream, and limits are not considered.',
    responses: { 200: ['ActingDecision', 'The decision, even if it is a refusal.'] },
  },
  'GET /v1/sub-accounts/onboarding': {
    id: 'getOnboarding',
    tag: 'Caller',
    summary: 'List keys that the first sub-account would break',
    description:
      'The keys of the account that wrote without the acting header in the last seven days. Once the account has an active sub-account, such writes get 400 `acting_tenant_required`.',
    responses: { 200: ['Onboarding', 'The keys.'] },
  },
  'GET /v1/sub-accounts/events': {
    id: 'listEvents',
    tag: 'Events',
    summary: 'List events',
    description:
      'Every change of the account, its sub-accounts and its keys, and quotas that are near or reached, newest first. Within an account, an event that was committed later has a greater id, so paging skips no event.',
    responses: { 200: ['EventList', 'A page of events.'] },
  },
  'GET /v1/sub-accounts/events/{event_id}': {
    id: 'getEvent',
    tag: 'Events',
    summary: 'Get an event',
    description: 'One event by its id.',
    responses: { 200: ['Event', 'The event.'] },
  },
};
