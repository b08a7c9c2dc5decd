import type { Subject } from '../types.ts';
import { mergedPairs } from './shared.ts';
import { account, parentKey } from './world.ts';

const rows =
  'Up to 1,000 rows. A 400 names every fault of every row, and nothing was changed. Otherwise each row succeeds or fails on its own. With `plan` the response shows the outcomes, and nothing is changed.';

const importPlan = 'Whether to report the outcomes without changing anything; `false` unless given.';

const importedKey = {
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  name: 'Warehouse',
  scopes: ['orders:read'],
};

/** Imports of many accounts or keys at a time. */
export const imports: Subject = {
  operators: {
    operations: {
      'POST /admin/v1/accounts/import': {
        id: 'importAccounts',
        tag: 'Imports',
        summary: 'Import parent accounts',
        description: `Creates parents and changes existing ones, found by \`external_id\`. ${rows}`,
        request: 'ImportAccounts',
        responses: { 200: ['ImportedRows', 'The outcome of each row, in the given order.'] },
        headers: ['Enforced', 'Replayed'],
      },
      'POST /admin/v1/sub-accounts/import': {
        id: 'importSubAccounts',
        tag: 'Imports',
        summary: 'Import sub-accounts of any parents',
        description: `Creates sub-accounts and changes existing ones, found by parent and \`external_id\`. ${rows}`,
        request: 'ImportSubAccounts',
        responses: { 200: ['ImportedRows', 'The outcome of each row, in the given order.'] },
        headers: ['Enforced', 'Replayed'],
      },
      'POST /admin/v1/api-keys/import': {
        id: 'importApiKeys',
        tag: 'Imports',
        summary: 'Import keys of any accounts',
        description: `Imports keys that callers already use, by value or by digest. ${rows}`,
        request: 'ImportApiKeys',
        responses: { 200: ['ImportedRows', 'The outcome of each row, in the given order.'] },
        headers: ['Enforced', 'Replayed'],
      },
      'POST /admin/v1/accounts/{account_id}/api-keys/import': {
        id: 'importAccountApiKeys',
        tag: 'Imports',
        summary: 'Import keys of one parent and its sub-accounts',
        description:
          'Imports up to 1,000 keys that callers already use, by value or by digest: all of them or none. A key that its owner already has stays as it is. From the 2xx on, no replica remembers any of them as unknown.',
        request: 'ImportAccountApiKeys',
        responses: { 200: ['ImportedApiKeys', 'The keys, in the given order.'] },
        problems: ['api_key_taken', 'limit_reached', 'scope_not_grantable'],
        headers: ['Enforced', 'Replayed'],
      },
    },
    examples: {
      ImportAccounts: { accounts: [{ external_id: 'cus_42', name: 'Acme Freight' }], plan: true },
      ImportSubAccounts: {
        sub_accounts: [{ account_external_id: 'cus_42', external_id: 'ada', name: 'Ada Logistics' }],
      },
      ImportApiKeys: { keys: [{ account_external_id: 'cus_42', ...importedKey }] },
      ImportedRows: {
        created: 1,
        updated: 0,
        unchanged: 0,
        rejected: 0,
        data: [{ outcome: 'created', id: account, code: null, detail: null }],
      },
      ImportAccountApiKeys: { keys: [importedKey] },
      ImportedApiKeys: { imported: 1, existing: 0, data: [parentKey] },
    },
  },
  schemas: {
    ImportAccountApiKeys: 'Keys that callers already use.',
    ImportAccounts: 'Parents, by their external_id.',
    ImportApiKeys: 'Keys that callers already use, each with its account.',
    ImportSubAccounts: 'Sub-accounts, each with its parent.',
    ImportedAccount: 'One parent.',
    ImportedApiKey: 'One key, by value or by digest.',
    ImportedApiKeyRow: 'One key, by value or by digest, with its account.',
    ImportedApiKeys: 'The keys, in the given order.',
    ImportedRow: 'The outcome of a row.',
    ImportedRows: 'The outcome of each row, in the given order.',
    ImportedSubAccount: 'One sub-account with its parent.',
  },
  inner: {
    'ImportAccounts/properties/accounts/items': 'ImportedAccount',
    'ImportSubAccounts/properties/sub_accounts/items': 'ImportedSubAccount',
    'ImportApiKeys/properties/keys/items': 'ImportedApiKeyRow',
    'ImportAccountApiKeys/properties/keys/items': 'ImportedApiKey',
    'ImportedRows/properties/data/items': 'ImportedRow',
  },
  members: {
    'ImportedAccount.id': 'The UUID. A new account gets it; an existing one must have it.',
    'ImportedAccount.metadata': mergedPairs,
    'ImportedApiKey.api_key':
      'The key itself: 16 to 512 visible ASCII characters without comma. Either this or `sha256`.',
    'ImportedApiKeyRow.api_key':
      'The key itself: 16 to 512 visible ASCII characters without comma. Either this or `sha256`.',
    'ImportedApiKey.scopes': 'What the key may do: opaque texts, compared exactly; none unless given.',
    'ImportedApiKeyRow.account_id': 'The parent. Either this or `account_external_id`.',
    'ImportedApiKeyRow.scopes': 'What the key may do: opaque texts, compared exactly; none unless given.',
    'ImportedRow.id': 'The UUID of the account or key of the row; `null` if there is none.',
    'ImportedSubAccount.account_id': 'The parent. Either this or `account_external_id`.',
    'ImportedSubAccount.id': 'The UUID. A new account gets it; an existing one must have it.',
    'ImportedSubAccount.metadata': mergedPairs,
    account_external_id: 'The `external_id` of the parent. Either this or `account_id`.',
    accounts: 'Accounts.',
    code: 'The error code of a rejected row; `null` for other rows.',
    created: 'How many rows were created.',
    detail:
      'The reason for a rejected row, for people, or what an unchanged key keeps that its row has otherwise; `null` for other rows.',
    existing: 'How many of the keys already belonged to their owners.',
    imported: 'How many keys were imported.',
    keys: 'The keys.',
    outcome: 'The outcome of the row.',
    'ImportAccounts.plan': importPlan,
    'ImportedAccount.plan':
      'The name of its plan; `null` for none. If it is absent, an existing account keeps its plan.',
    'ImportApiKeys.plan': importPlan,
    'ImportSubAccounts.plan': importPlan,
    rejected: 'How many rows were rejected.',
    sha256: 'The SHA-256 digest of the key, 64 hexadecimal digits in lower case.',
    sub_account_external_id:
      'The `external_id` of the sub-account that has the key; absent for a key of the parent.',
    sub_accounts: 'The sub-accounts.',
    unchanged: 'How many rows needed no change.',
    updated: 'How many rows were changed.',
  },
};
