import type { OperationTexts } from '../types.ts';

const tag = 'Any API key';
const rows =
  'Up to 1,000 rows. 400 names every fault of every row, and then nothing was done; otherwise each row stands by itself. With `plan` the response says what would be, and nothing is done.';

/** What operators do with any key, and with many rows at a time. */
export const anyKeyOperations: OperationTexts = {
  'GET /admin/v1/api-keys': {
    id: 'findApiKeys',
    tag,
    summary: 'Find keys',
    description:
      'Keys of any account, newest first, by their first or last characters, the SHA-256 of the key itself, the account or the status.',
    responses: { 200: ['HeldApiKeyList', 'A page of keys, each with its account.'] },
  },
  'GET /admin/v1/api-keys/{key_id}': {
    id: 'getApiKey',
    tag,
    summary: 'Get a key',
    description: 'One key of any account, with that account.',
    responses: { 200: ['HeldApiKey', 'The key.'] },
  },
  'PATCH /admin/v1/api-keys/{key_id}': {
    id: 'updateApiKey',
    tag,
    summary: 'Change a key',
    description: 'Changes name or expiry. Only an active key may be given another expiry.',
    request: 'UpdateApiKey',
    responses: { 200: ['HeldApiKey', 'The key as it is now.'] },
    problems: ['key_not_active'],
    headers: ['Enforced'],
  },
  'POST /admin/v1/api-keys/{key_id}/rotate': {
    id: 'rotateApiKey',
    tag,
    summary: 'Rotate a key',
    description:
      'Makes a key with the same owner, name and scopes. The old one goes on working for `expires_in` seconds; with 0 it is revoked before the 2xx. Afterwards at most two keys of the rotation are active. This is the only response with the secrets.',
    request: 'RotateApiKey',
    responses: { 201: ['RotatedApiKey', 'The new key was made.'] },
    problems: ['key_not_active', 'key_rotated'],
    headers: ['Enforced', 'Replayed', 'NoStore'],
  },
  'POST /admin/v1/api-keys/{key_id}/revoke': {
    id: 'revokeApiKey',
    tag,
    summary: 'Revoke a key',
    description:
      'From the 2xx on the key is 401 `api_key_revoked` on every replica, and what it has open is closed. Takes no body. Repeating it gives the same response.',
    responses: { 200: ['HeldApiKey', 'The key is revoked.'] },
    headers: ['Enforced', 'Replayed'],
  },
  'POST /admin/v1/accounts/import': {
    id: 'importAccounts',
    tag: 'Imports',
    summary: 'Import parent accounts',
    description: `Creates and changes parents by their \`external_id\`. ${rows}`,
    request: 'ImportAccounts',
    responses: { 200: ['ImportedRows', 'What became of each row, in the order given.'] },
    headers: ['Enforced', 'Replayed'],
  },
  'POST /admin/v1/sub-accounts/import': {
    id: 'importSubAccounts',
    tag: 'Imports',
    summary: 'Import sub-accounts of any parents',
    description: `Creates and changes sub-accounts by parent and \`external_id\`. ${rows}`,
    request: 'ImportSubAccounts',
    responses: { 200: ['ImportedRows', 'What became of each row, in the order given.'] },
    headers: ['Enforced', 'Replayed'],
  },
  'POST /admin/v1/api-keys/import': {
    id: 'importApiKeys',
    tag: 'Imports',
    summary: 'Import keys of any accounts',
    description: `Keys that callers use already, by value or by digest. ${rows}`,
    request: 'ImportApiKeys',
    responses: { 200: ['ImportedRows', 'What became of each row, in the order given.'] },
    headers: ['Enforced', 'Replayed'],
  },
  'POST /admin/v1/accounts/{account_id}/api-keys/import': {
    id: 'importAccountApiKeys',
    tag: 'Imports',
    summary: 'Import keys of one parent and its sub-accounts',
    description:
      'Up to 1,000 keys that callers use already, by value or by digest: all of them or none. A key that its owner has already stays as it is. From the 2xx on no replica remembers one of them as unknown.',
    request: 'ImportAccountApiKeys',
    responses: { 200: ['ImportedApiKeys', 'The keys, in the order given.'] },
    problems: ['api_key_taken', 'limit_reached', 'scope_not_grantable'],
    headers: ['Enforced', 'Replayed'],
  },
};
