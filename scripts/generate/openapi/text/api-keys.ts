import type { OperationText, OperationTexts, Subject } from '../types.ts';
import { lastPage, parentKey, secrets, subKey } from './world.ts';

const tag = 'API keys';

const byIds = { sub_id: '$response.body#/sub_account_id', key_id: '$response.body#/id' };

/** API keys of one account. */
export const apiKeys: Subject = {
  parents: {
    operations: keyOperations('/v1/sub-accounts/{sub_id}/api-keys', {
      infix: '',
      whose: 'a sub-account',
      all: 'the sub-account',
      mintProblems: ['scope_not_grantable'],
      links: true,
    }),
    examples: {
      ApiKey: subKey,
      ApiKeyList: { data: [subKey], ...lastPage },
      MintedApiKey: { ...subKey, ...secrets },
    },
    links: {
      GetApiKey: byIds,
      UpdateApiKey: byIds,
      RotateApiKey: byIds,
      RevokeApiKey: byIds,
    },
  },
  operators: {
    operations: keyOperations('/admin/v1/accounts/{account_id}/api-keys', {
      infix: 'Account',
      whose: 'a parent account',
      all: 'the account in the path, which may be a parent or a sub-account',
      mintProblems: [],
      links: false,
    }),
    examples: {
      ApiKey: parentKey,
      ApiKeyList: { data: [parentKey], ...lastPage },
      MintedApiKey: { ...parentKey, ...secrets },
    },
  },
  examples: {
    MintApiKey: { name: 'Warehouse', scopes: ['tracking:read', 'tracking:write'] },
    UpdateApiKey: { name: 'Warehouse North', expires_at: '2099-01-01T00:00:00Z' },
    RotateApiKey: { expires_in: 86_400 },
    RevokedApiKeys: { revoked: 12 },
  },
  schemas: {
    ApiKey: 'An API key, without secrets.',
    ApiKeyList: 'A page of API keys.',
    MintApiKey: 'The new key.',
    MintedApiKey: 'An API key with its secrets, which no later response has.',
    RevokedApiKeys: 'How many keys were revoked.',
    RotateApiKey: 'The ends of the old and the new key.',
    UpdateApiKey: 'The changes.',
  },
  members: {
    'ApiKey.account_id': 'The parent that has the key. Absent if a sub-account has it and its parent asks.',
    'MintedApiKey.account_id':
      'The parent that has the key. Absent if a sub-account has it and its parent asks.',
    'ApiKey.status': 'Its state: `expired` from `expires_at` on, unless it was revoked.',
    'MintApiKey.scopes': 'What the key may do: opaque texts, compared exactly; none unless given.',
    'RotateApiKey.expires_at': 'When the new key expires, RFC 3339; `null` or absent for never.',
    expires_in: 'How many seconds the old key keeps working: 0 revokes it at once, 2,592,000 is 30 days.',
    revoked: 'How many keys the call revoked. Keys that were revoked before do not count.',
  },
};

interface KeyTexts {
  /** Of the keys' owner, in the ids of operations: `''` for parents' own documents. */
  readonly infix: string;
  /** Whose keys they are. */
  readonly whose: string;
  /** The account whose keys can be revoked at once. */
  readonly all: string;
  /** Codes that a mint may have beyond others. */
  readonly mintProblems: NonNullable<OperationText['problems']>;
  readonly links: boolean;
}

/** Operations to mint, list, get, change, rotate and revoke the keys of one account. */
function keyOperations(path: string, texts: KeyTexts): OperationTexts {
  const { infix, whose, mintProblems, links } = texts;
  const follow = links ? { links: ['GetApiKey', 'UpdateApiKey', 'RotateApiKey', 'RevokeApiKey'] } : {};
  const one = `${path}/{key_id}`;
  return {
    [`POST ${path}`]: {
      id: `mint${infix}ApiKey`,
      tag,
      summary: `Mint a key of ${whose}`,
      description:
        'Only this response ever has `api_key` and `client_secret`. A repeated call with the same `Idempotency-Key` returns the same key without them.',
      request: 'MintApiKey',
      responses: { 201: ['MintedApiKey', 'The key was made.'] },
      problems: ['limit_reached', ...mintProblems],
      headers: ['Replayed', 'NoStore'],
      ...follow,
    },
    [`GET ${path}`]: {
      id: `list${infix}ApiKeys`,
      tag,
      summary: `List the keys of ${whose}`,
      description: 'Newest first, without secrets. Revoked and expired keys stay in the list.',
      responses: { 200: ['ApiKeyList', 'A page of keys.'] },
    },
    [`GET ${one}`]: {
      id: `get${infix}ApiKey`,
      tag,
      summary: `Get a key of ${whose}`,
      description: 'One key by its id, without secrets.',
      responses: { 200: ['ApiKey', 'The key.'] },
    },
    [`PATCH ${one}`]: {
      id: `update${infix}ApiKey`,
      tag,
      summary: `Change a key of ${whose}`,
      description:
        'Changes the members that the body names. From the 2xx on, every replica applies the new expiry and limits. Only an active key may be given another expiry.',
      request: 'UpdateApiKey',
      responses: { 200: ['ApiKey', 'The key after the change.'] },
      problems: ['key_not_active'],
      headers: ['Enforced'],
    },
    ...keyEnds(path, texts),
  };
}

function keyEnds(path: string, { infix, whose, all }: KeyTexts): OperationTexts {
  const one = `${path}/{key_id}`;
  return {
    [`POST ${one}/rotate`]: {
      id: `rotate${infix}ApiKey`,
      tag,
      summary: `Rotate a key of ${whose}`,
      description:
        'Makes a key with the members of the old one, but for its expiry. The old key keeps working for `expires_in` seconds; with 0 it is revoked before the 2xx. At most two keys of the rotation are active afterwards. As with a mint, only this response has the secrets. A rotation may exceed the limit of keys.',
      request: 'RotateApiKey',
      responses: { 201: ['MintedApiKey', 'The new key was made.'] },
      problems: ['key_not_active', 'key_rotated'],
      headers: ['Enforced', 'Replayed', 'NoStore'],
    },
    [`POST ${one}/revoke`]: {
      id: `revoke${infix}ApiKey`,
      tag,
      summary: `Revoke a key of ${whose}`,
      description:
        'From the 2xx on, every replica rejects the key with 401 `api_key_revoked`, and its open requests and connections are closed. Takes no body. A revoke cannot be undone; repeating it gives the same response.',
      responses: { 200: ['ApiKey', 'The key is revoked.'] },
      headers: ['Enforced', 'Replayed'],
    },
    [`POST ${path}/revoke-all`]: {
      id: `revokeAll${infix}ApiKeys`,
      tag,
      summary: 'Revoke all keys of an account',
      description: `Revokes all keys of ${all}, expired ones too, and no key of another account. From the 2xx on, every replica rejects them with 401 \`api_key_revoked\`, and their open requests and connections are closed. Each replica confirms once for all keys. Takes no body. It cannot be undone.`,
      anyAccount: true,
      responses: { 200: ['RevokedApiKeys', 'All keys are revoked.'] },
      headers: ['Enforced', 'Replayed'],
    },
  };
}
