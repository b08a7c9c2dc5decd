import type { Subject } from '../types.ts';
import { mergedPairs } from './shared.ts';
import { account, created, gold, lastPage, noLimits } from './world.ts';

const takesNone = 'Takes no body. Repeating it gives the same response.';

const acme = {
  id: account,
  name: 'Acme Freight',
  external_id: 'cus_42',
  status: 'active',
  metadata: { region: 'eu' },
  active_sub_accounts: 1,
  plan: gold.name,
  max_sub_accounts: null,
  max_api_keys: 'unlimited',
  limits: { ...noLimits, requests_per_second: 200 },
  effective_limits: { ...gold.limits, requests_per_second: 200, burst: null },
  created_at: created,
  updated_at: created,
};

const byId = { account_id: '$response.body#/id' };

/** Parent accounts. */
export const accounts: Subject = {
  operators: {
    operations: {
      'POST /admin/v1/accounts': {
        id: 'createAccount',
        tag: 'Accounts',
        summary: 'Create a parent account',
        description: 'Creates a parent account: a customer of the API behind the gateway.',
        request: 'CreateAccount',
        responses: { 201: ['Account', 'The account was created.'] },
        problems: ['id_taken', 'external_id_taken'],
        headers: ['Enforced', 'Replayed'],
        links: [
          'GetAccount',
          'UpdateAccount',
          'SuspendAccount',
          'MintAccountApiKey',
          'CreateAccountSubAccount',
        ],
      },
      'GET /admin/v1/accounts': {
        id: 'listAccounts',
        tag: 'Accounts',
        summary: 'List parent accounts',
        description:
          'Newest first. Filters may be combined; a cursor is valid only with the filters of its page.',
        responses: { 200: ['AccountList', 'A page of accounts.'] },
      },
      'GET /admin/v1/accounts/{account_id}': {
        id: 'getAccount',
        tag: 'Accounts',
        summary: 'Get a parent account',
        description: 'One parent account by its id.',
        responses: { 200: ['Account', 'The account.'] },
      },
      'PATCH /admin/v1/accounts/{account_id}': {
        id: 'updateAccount',
        tag: 'Accounts',
        summary: 'Change a parent account',
        description:
          'Changes the members that the body names and keeps the others. `metadata` and `limits` are merged: `null` removes a pair or a limit. A limit, `max_sub_accounts` or `max_api_keys` that is `null` is that of the plan; `"unlimited"` lifts it. Without a plan, `null` is no limit, or the number in the configuration.',
        request: 'UpdateAccount',
        responses: { 200: ['Account', 'The account after the change.'] },
        problems: ['external_id_taken'],
        headers: ['Enforced'],
      },
      'POST /admin/v1/accounts/{account_id}/suspend': {
        id: 'suspendAccount',
        tag: 'Accounts',
        summary: 'Suspend a parent account',
        description: `From the 2xx on, every replica rejects its keys and those of its sub-accounts with 403 \`account_suspended\`. ${takesNone}`,
        responses: { 200: ['Account', 'The account is suspended.'] },
        headers: ['Enforced', 'Replayed'],
        links: ['ResumeAccount'],
      },
      'POST /admin/v1/accounts/{account_id}/resume': {
        id: 'resumeAccount',
        tag: 'Accounts',
        summary: 'Resume a parent account',
        description: `Its keys work again. ${takesNone}`,
        responses: { 200: ['Account', 'The account is active.'] },
        headers: ['Enforced', 'Replayed'],
      },
      'DELETE /admin/v1/accounts/{account_id}': {
        id: 'deleteAccount',
        tag: 'Accounts',
        summary: 'Delete a parent account',
        description:
          'Deletes a suspended account with its sub-accounts and all their keys, for good. From the 204 on, every replica rejects the keys with 401 `api_key_revoked`, and the ids get a 404. The ids are never given again; the `external_id` is free. Names, metadata and addresses are erased within an hour, as `GET /admin/v1/erasures/{account_id}` shows. Usage stays under the ids. Takes no body.',
        responses: { 204: [null, 'The account is deleted.'] },
        problems: ['still_active'],
        headers: ['Enforced'],
      },
      'GET /admin/v1/erasures/{account_id}': {
        id: 'getErasure',
        tag: 'Accounts',
        summary: 'Get the erasure of a deleted account',
        description:
          'How far the erasure of a deleted account or sub-account has come. It holds counts and ids only, and stays. For a sub-account that was deleted with its parent, it is that of the parent.',
        responses: { 200: ['Erasure', 'The erasure.'] },
        anyAccount: true,
      },
    },
    examples: {
      Erasure: {
        account_id: account,
        parent_id: null,
        status: 'done',
        deleted_at: created,
        erased_at: '2026-03-01T09:34:12.000Z',
        accounts: 2,
        api_keys: 3,
        events: 14,
        idempotency_records: 1,
      },
      CreateAccount: {
        name: 'Acme Freight',
        external_id: 'cus_42',
        metadata: { region: 'eu' },
        plan: 'gold',
      },
      UpdateAccount: { name: 'Acme Freight Ltd', plan: 'gold', max_sub_accounts: 500 },
      Account: acme,
      AccountList: { data: [acme], ...lastPage },
    },
    links: {
      GetAccount: byId,
      UpdateAccount: byId,
      SuspendAccount: byId,
      ResumeAccount: byId,
      MintAccountApiKey: byId,
      CreateAccountSubAccount: byId,
    },
  },
  schemas: {
    Account: 'A parent account.',
    AccountList: 'A page of parent accounts.',
    CreateAccount: 'The new account.',
    Erasure: 'The erasure of a deleted account.',
    UpdateAccount: 'The changes.',
  },
  members: {
    'CreateAccount.id':
      'The UUID of the new account, neither the nil nor the max one. The gateway makes one if it is absent.',
    'Erasure.account_id': 'The deleted account or sub-account.',
    'Erasure.accounts': 'How many accounts were erased so far.',
    'Erasure.api_keys': 'How many keys were erased and revoked so far.',
    'Erasure.deleted_at': 'When the account was deleted.',
    'Erasure.erased_at': 'When everything had been erased; `null` until then.',
    'Erasure.events': 'How many events were erased so far.',
    'Erasure.idempotency_records':
      'How many results of requests with an `Idempotency-Key` were erased so far.',
    'Erasure.parent_id': 'The parent of a deleted sub-account; `null` for a parent.',
    'Erasure.status': '`pending` until everything is erased, then `done`.',
    'UpdateAccount.metadata': mergedPairs,
    'Account.limits':
      'Its own limits. `null` is the limit of its plan, and `"unlimited"` is none, whatever the plan says.',
    effective_limits: 'The limits in force: its own and, where it has none, those of its plan.',
    'UpdateAccount.limits':
      'Its own limits. A change keeps the limits that it does not name; `null` is the limit of its plan again, and `"unlimited"` is none, whatever the plan says.',
  },
};
