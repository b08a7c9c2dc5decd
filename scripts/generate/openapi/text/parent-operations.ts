import type { OperationTexts } from '../types.ts';

const repeatable = 'Repeating it gives the same response.';

/** The endpoints for parents, but for those of keys. */
export const parentOperations: OperationTexts = {
  'POST /v1/sub-accounts': {
    id: 'createSubAccount',
    tag: 'Sub-accounts',
    summary: 'Create a sub-account',
    description:
      'Creates a sub-account of the calling account. With the first active one, every proxied write of the account must say by `X-Service-Acting-Tenant` who it is for.',
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
      'The sub-accounts of the calling account, newest first. Filters may be combined; a cursor is good for the filters it came from.',
    responses: { 200: ['SubAccountList', 'A page of sub-accounts.'] },
  },
  'GET /v1/sub-accounts/{sub_id}': {
    id: 'getSubAccount',
    tag: 'Sub-accounts',
    summary: 'Get a sub-account',
    description:
      'One sub-account by its id. Ids that are unknown, malformed or of another account get the same 404.',
    responses: { 200: ['SubAccount', 'The sub-account.'] },
  },
  'PATCH /v1/sub-accounts/{sub_id}': {
    id: 'updateSubAccount',
    tag: 'Sub-accounts',
    summary: 'Change a sub-account',
    description:
      'Changes what the body names and leaves the rest. `metadata` and `limits` are merged: `null` removes a pair, or a limit. `external_id: null` clears it. The status changes by deactivate and reactivate alone.',
    request: 'UpdateSubAccount',
    responses: { 200: ['SubAccount', 'The sub-account as it is now.'] },
    problems: ['external_id_taken'],
    headers: ['Enforced'],
  },
  'POST /v1/sub-accounts/{sub_id}/deactivate': {
    id: 'deactivateSubAccount',
    tag: 'Sub-accounts',
    summary: 'Deactivate a sub-account',
    description: `From the 2xx on its keys get 403 \`account_deactivated\` on every replica, and acting as it is 403. Its keys are not revoked. Takes no body. ${repeatable}`,
    responses: { 200: ['SubAccount', 'It is deactivated.'] },
    headers: ['Enforced', 'Replayed'],
    links: ['ReactivateSubAccount'],
  },
  'POST /v1/sub-accounts/{sub_id}/reactivate': {
    id: 'reactivateSubAccount',
    tag: 'Sub-accounts',
    summary: 'Reactivate a sub-account',
    description: `Its keys work again, unless they were revoked or have expired. Takes no body. ${repeatable}`,
    responses: { 200: ['SubAccount', 'It is active.'] },
    headers: ['Enforced', 'Replayed'],
  },
  'PUT /v1/sub-accounts/by-external-id/{external_id}': {
    id: 'putSubAccount',
    tag: 'Sub-accounts',
    summary: 'Create or change the sub-account with an external_id',
    description:
      'Says what is to be, however often: creates the sub-account or changes it. `metadata` is merged. It never reactivates one. Takes no `Idempotency-Key`, which it does not need.',
    request: 'PutSubAccount',
    responses: {
      200: ['SubAccount', 'It was there, and is now as the body says.'],
      201: ['SubAccount', 'It was created.'],
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
      'What was asked of the API behind the gateway, by the account that each request operated on; the parent has rows of its own. With `Accept: text/csv` all rows of the period as CSV; `limit` and `cursor` are for pages of JSON alone.',
    responses: { 200: ['UsageReport', 'A page of the report, or all of it as CSV.'] },
    problems: ['not_found'],
    headers: ['VaryAccept', 'CsvName'],
    csv: true,
  },
  'GET /v1/sub-accounts/caller': {
    id: 'getCaller',
    tag: 'Caller',
    summary: 'Who calls',
    description: 'The account and the key that call, and how many sub-accounts are active.',
    responses: { 200: ['Caller', 'The caller.'] },
  },
  'GET /v1/sub-accounts/acting': {
    id: 'explainActing',
    tag: 'Caller',
    summary: 'What would be decided about a request',
    description:
      'Whether a request with the calling key would be let through, and as whom, by the very functions that decide about real ones. Nothing is sent, and limits are not looked at.',
    responses: { 200: ['ActingDecision', 'What would be decided, be it a refusal.'] },
  },
  'GET /v1/sub-accounts/onboarding': {
    id: 'getOnboarding',
    tag: 'Caller',
    summary: 'What the first sub-account would break',
    description:
      'The keys of the account that wrote without the acting header in the last seven days: with an active sub-account such writes are 400 `acting_tenant_required`.',
    responses: { 200: ['Onboarding', 'The keys.'] },
  },
  'GET /v1/sub-accounts/events': {
    id: 'listEvents',
    tag: 'Events',
    summary: 'List events',
    description:
      'Every change of the account, its sub-accounts and its keys, newest first. Of one account, an event that was committed later has a greater id, so paging skips none.',
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
