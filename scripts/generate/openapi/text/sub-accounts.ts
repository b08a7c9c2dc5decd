import type { Subject } from '../types.ts';
import { mergedPairs } from './shared.ts';
import { lastPage, ada } from './world.ts';

const takesNone = 'Takes no body. Repeating it gives the same response.';

const deletion =
  'Deletes a deactivated sub-account with all its keys, for good. From the 204 on, every replica rejects its keys with 401 `api_key_revoked` and requests that act as it with 403 `acting_tenant_unknown`, and its id gets a 404. The id is never given again; its `external_id` is free. Its name, metadata and the addresses in its events are erased within an hour. Its usage stays under the id. Takes no body.';

const creation = { name: 'Ada Logistics', external_id: 'ada', metadata: { tier: '1' } };
const change = { name: 'Ada Logistics Ltd', metadata: { tier: '2' } };

const byId = { sub_id: '$response.body#/id' };

/** Sub-accounts of the calling parent, and of any parent. */
export const subAccounts: Subject = {
  parents: {
    operations: {
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
        description: `From the 2xx on, every replica rejects its keys with 403 \`account_deactivated\` and requests that act as it with 403. Its keys are not revoked. ${takesNone}`,
        responses: { 200: ['SubAccount', 'The sub-account is deactivated.'] },
        headers: ['Enforced', 'Replayed'],
        links: ['ReactivateSubAccount'],
      },
      'POST /v1/sub-accounts/{sub_id}/reactivate': {
        id: 'reactivateSubAccount',
        tag: 'Sub-accounts',
        summary: 'Reactivate a sub-account',
        description: `Its keys work again, unless they were revoked or have expired. ${takesNone}`,
        responses: { 200: ['SubAccount', 'The sub-account is active.'] },
        headers: ['Enforced', 'Replayed'],
      },
      'DELETE /v1/sub-accounts/{sub_id}': {
        id: 'deleteSubAccount',
        tag: 'Sub-accounts',
        summary: 'Delete a sub-account',
        description: deletion,
        responses: { 204: [null, 'The sub-account is deleted.'] },
        problems: ['still_active'],
        headers: ['Enforced'],
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
    },
    examples: {
      CreateSubAccount: creation,
      UpdateSubAccount: change,
      PutSubAccount: { name: 'Ada Logistics', metadata: { tier: '1' } },
    },
    links: {
      GetSubAccount: byId,
      UpdateSubAccount: byId,
      DeactivateSubAccount: byId,
      ReactivateSubAccount: byId,
      MintApiKey: byId,
      ListApiKeys: byId,
    },
  },
  operators: {
    operations: {
      'GET /admin/v1/accounts/{account_id}/sub-accounts': {
        id: 'listAccountSubAccounts',
        tag: 'Sub-accounts',
        summary: 'List the sub-accounts of a parent',
        description: 'Newest first, as the parent itself sees them.',
        responses: { 200: ['SubAccountList', 'A page of sub-accounts.'] },
      },
      'POST /admin/v1/accounts/{account_id}/sub-accounts': {
        id: 'createAccountSubAccount',
        tag: 'Sub-accounts',
        summary: 'Create a sub-account of a parent',
        description: 'Creates a sub-account as the parent itself would. Only an operator may choose its id.',
        request: 'CreateAccountSubAccount',
        responses: { 201: ['SubAccount', 'The sub-account was created.'] },
        problems: ['id_taken', 'external_id_taken', 'limit_reached'],
        headers: ['Enforced', 'Replayed'],
      },
      'GET /admin/v1/accounts/{account_id}/sub-accounts/{sub_id}': {
        id: 'getAccountSubAccount',
        tag: 'Sub-accounts',
        summary: 'Get a sub-account of a parent',
        description: 'One sub-account, as the parent itself sees it.',
        responses: { 200: ['SubAccount', 'The sub-account.'] },
      },
      'PATCH /admin/v1/accounts/{account_id}/sub-accounts/{sub_id}': {
        id: 'updateAccountSubAccount',
        tag: 'Sub-accounts',
        summary: 'Change a sub-account of a parent',
        description:
          'Changes the members that the body names and keeps the others, as the parent itself would. `metadata` and `limits` are merged: `null` removes a pair or a limit.',
        request: 'UpdateSubAccount',
        responses: { 200: ['SubAccount', 'The sub-account after the change.'] },
        problems: ['external_id_taken'],
        headers: ['Enforced'],
      },
      'POST /admin/v1/accounts/{account_id}/sub-accounts/{sub_id}/deactivate': {
        id: 'deactivateAccountSubAccount',
        tag: 'Sub-accounts',
        summary: 'Deactivate a sub-account of a parent',
        description: `From the 2xx on, every replica rejects its keys with 403 \`account_deactivated\`. ${takesNone}`,
        responses: { 200: ['SubAccount', 'The sub-account is deactivated.'] },
        headers: ['Enforced', 'Replayed'],
      },
      'POST /admin/v1/accounts/{account_id}/sub-accounts/{sub_id}/reactivate': {
        id: 'reactivateAccountSubAccount',
        tag: 'Sub-accounts',
        summary: 'Reactivate a sub-account of a parent',
        description: `Its keys work again, unless they were revoked or have expired. ${takesNone}`,
        responses: { 200: ['SubAccount', 'The sub-account is active.'] },
        headers: ['Enforced', 'Replayed'],
      },
      'DELETE /admin/v1/accounts/{account_id}/sub-accounts/{sub_id}': {
        id: 'deleteAccountSubAccount',
        tag: 'Sub-accounts',
        summary: 'Delete a sub-account of a parent',
        description: deletion,
        responses: { 204: [null, 'The sub-account is deleted.'] },
        problems: ['still_active'],
        headers: ['Enforced'],
      },
    },
    examples: {
      UpdateSubAccount: change,
      CreateAccountSubAccount: creation,
    },
  },
  examples: {
    SubAccount: ada,
    SubAccountList: { data: [ada], ...lastPage },
  },
  schemas: {
    CreateAccountSubAccount: 'The new sub-account.',
    CreateSubAccount: 'The new sub-account.',
    PutSubAccount: 'The sub-account after the call.',
    SubAccount: 'A customer of a parent account.',
    SubAccountList: 'A page of sub-accounts.',
    UpdateSubAccount: 'The changes.',
  },
  members: {
    'CreateAccountSubAccount.id':
      'The UUID of the new account, neither the nil nor the max one. The gateway makes one if it is absent.',
    'PutSubAccount.metadata': mergedPairs,
    'SubAccount.code': 'The code of the error that requests will get.',
    'SubAccount.detail': 'The consequence, and what to do about it.',
    'UpdateSubAccount.metadata': mergedPairs,
    'query.metadata':
      'Only those with all of these pairs: repeat `metadata[key]=value` for each pair. Keys have 1 to 40 characters, values up to 500.',
    deactivated_at: 'When it was deactivated; `null` while it is active.',
    warnings: 'Consequences of a create that need action; absent if there are none.',
  },
};
