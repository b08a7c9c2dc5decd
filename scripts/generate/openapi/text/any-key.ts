import type { Subject } from '../types.ts';
import { account, accountKey, lastPage, parentKey, secrets } from './world.ts';

const tag = 'Any API key';

const heldKey = {
  ...parentKey,
  account: { id: account, name: 'Acme Freight', status: 'active', external_id: 'cus_42' },
  parent: null,
};

const newKey = '0197b7e3-51aa-7f66-83b2-9d3f5e7a1b24';

/** API keys of any account, for operators. */
export const anyKey: Subject = {
  operators: {
    operations: {
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
        description:
          'Changes the members that the body names. Only an active key may be given another expiry.',
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
          'Makes a key of the same owner with the members of the old one, but for its expiry. The old key keeps working for `expires_in` seconds; with 0 it is revoked before the 2xx. At most two keys of the rotation are active afterwards. Only this response has the secrets.',
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
    },
    examples: {
      HeldApiKey: heldKey,
      HeldApiKeyList: { data: [heldKey], ...lastPage },
      RotatedApiKey: { ...heldKey, id: newKey, rotated_from: accountKey, ...secrets },
    },
  },
  schemas: {
    HeldApiKey: 'An API key with the account that has it.',
    HeldApiKeyList: 'A page of API keys of any accounts.',
    KeyAccount: 'The account that has the key.',
    RotatedApiKey: 'An API key with its account and its secrets, which no later response has.',
  },
  inner: {
    'HeldApiKey/properties/account': 'KeyAccount',
  },
  members: {
    'HeldApiKey.account_id': 'The account that has the key, parent or sub-account.',
    'RotatedApiKey.account_id': 'The account that has the key, parent or sub-account.',
    'query.last4': 'Only keys with these last four characters.',
    'query.prefix':
      'Only keys that may begin with this text: their shown `prefix` begins with it, or it begins with their `prefix`. Imported keys may show no prefix; find them by `sha256`.',
    'query.sha256': 'Only the key with this SHA-256 digest, in lower-case hexadecimal digits.',
    parent: 'The parent of the sub-account that has the key; `null` if a parent has it.',
  },
};
