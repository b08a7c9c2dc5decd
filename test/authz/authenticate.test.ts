// class: pure
import t from 'tap';
import { credentialReader, type CredentialHeaders } from '../../src/authz/authenticate.ts';
import { digestSecret } from '../../src/domain/api-key.ts';
import { MemoryDirectory } from '../support/memory-directory.ts';

const directory = new MemoryDirectory();
const [one, other] = [directory.addParent().key, directory.addParent().key];
const read = credentialReader('tgw', ['X-API-Key', 'X-Legacy']);

const foreign = 'acme_live_0123456789abcdef';
const isKey = (expected: string): boolean => /^(?:tgw|acme)_/.test(expected);

/** What a request with these headers is taken for: a key, or the code of its problem. */
const table: readonly (readonly [string, CredentialHeaders, string])[] = [
  ['nothing', { authorization: [], apiKeys: [] }, 'unauthenticated'],
  ['a bearer key', { authorization: [`Bearer ${one}`], apiKeys: [] }, one],
  ['a key in a header of its own', { authorization: [], apiKeys: [one] }, one],
  ['a header of its own, empty', { authorization: [], apiKeys: [''] }, 'unauthenticated'],
  ['a header of its own with a scheme', { authorization: [], apiKeys: [`Bearer ${one}`] }, 'invalid_api_key'],
  ['a mistyped key', { authorization: [], apiKeys: [`${one.slice(0, -1)}!`] }, 'invalid_api_key'],
  ['two keys that a proxy joined', { authorization: [], apiKeys: [`${one}, ${other}`] }, 'invalid_api_key'],
  ['another scheme', { authorization: ['Basic YTpi'], apiKeys: [] }, 'unauthenticated'],
  ['two bearer keys', { authorization: [`Bearer ${one}`, `Bearer ${one}`], apiKeys: [] }, 'unauthenticated'],
  ['the same key in both', { authorization: [`Bearer ${one}`], apiKeys: [one] }, 'unauthenticated'],
  ['two keys in both', { authorization: [`Bearer ${one}`], apiKeys: [other] }, 'unauthenticated'],
  ['Basic beside a key', { authorization: ['Basic YTpi'], apiKeys: [one] }, 'unauthenticated'],
  ['nonsense beside a key', { authorization: [''], apiKeys: [one] }, 'unauthenticated'],
  [
    'an empty header beside a bearer key',
    { authorization: [`Bearer ${one}`], apiKeys: [''] },
    'unauthenticated',
  ],
  ['a key of another format', { authorization: [`Bearer ${foreign}`], apiKeys: [] }, foreign],
  ['a key of another format in a header of its own', { authorization: [], apiKeys: [foreign] }, foreign],
  ['a key that is too short', { authorization: [], apiKeys: [foreign.slice(0, 15)] }, 'invalid_api_key'],
  ['a key that is too long', { authorization: [], apiKeys: ['x'.repeat(513)] }, 'invalid_api_key'],
  ['two headers of their own', { authorization: [], apiKeys: [one, one] }, 'unauthenticated'],
];

for (const [what, sent, expected] of table) {
  t.test(`a request with ${what} is ${isKey(expected) ? 'its key' : expected}`, async (t) => {
    const credentials = read(sent);
    if (isKey(expected)) t.strictSame(credentials, { digest: digestSecret(expected) });
    else t.match(credentials, { problem: { code: expected } });
  });
}

t.test('a request without a key is told every way to send one', async (t) => {
  t.match(read({ authorization: [], apiKeys: [] }), {
    problem: {
      detail:
        'Send an API key: `Authorization: Bearer <API_KEY>` or `X-API-Key: <API_KEY>` or `X-Legacy: <API_KEY>`.',
    },
  });
  t.match(credentialReader('tgw', [])({ authorization: [], apiKeys: [] }), {
    problem: { detail: 'Send an API key: `Authorization: Bearer <API_KEY>`.' },
  });
});
