import type { OperationTexts } from '../types.ts';

const tag = 'Any API key';
const rows =
  'Up to 1,000 rows. A 400 names every fault of every row, and nothing was changed. Otherwise each row succeeds or fails on its own. With `plan` the response shows the outcomes, and nothing is changed.';

/** What operators do with any key, and with many rows at a time. */
export const anyKeyOperations: OperationTexts = {
  'GET /admin/v1/api-keys': {
    id: 'findApiKeys',
    tag,
    summary: 'Find keys',
    description:
      'Finds keys of any account by their first or last characters, by the SHA-256 of the key itself, by account or by status. Newest first.',
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
    description: 'Changes name, expiry or limits. Only an active key may be given another expiry.',
    request: 'UpdateApiKey',
    responses: { 200: ['HeldApiKey', 'The key after the change.'] },
    problems: ['key_not_active'],
    headers: ['Enforced'],
  },
  'POST /admin/v1/api-keys/{key_id}/rotate': {
    id: 'rotateApiKey',
    tag,
    summary: 'Rotate a key',
    description:
      'Makes a key with the same owner, name and scopes. The old key keeps working for `expires_in` seconds; with 0 it is revoked before the 2xx. At most two keys of the rotation are active afterwards. Only this response has the secrets.',
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
      'From the 2xx on, every replica rejects the key with 401 `api_key_revoked`, and its open requests and connections are closed. Takes no body. Repeating it gives the same response.',
    responses: { 200: ['HeldApiKey', 'The key is revoked.'] },
    headers: ['Enforced', 'Replayed'],
  },
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
};
