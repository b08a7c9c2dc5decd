// class: pure
import t from 'tap';
import { credentialReader } from '../../src/authz/authenticate.ts';
import { digestSecret } from '../../src/domain/api-key.ts';
import {
  authorizationSchemes,
  basicMaxLength,
  challengesOf,
  type AuthorizationScheme,
} from '../../src/domain/authorization.ts';
import { MemoryDirectory } from '../support/memory-directory.ts';

const directory = new MemoryDirectory();
const [key, other] = [directory.addParent().key, directory.addParent().key];
const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
const foreign = 'acme:live:0123456789abcdef';

const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');

/** A value of `Authorization`, and what it is with its scheme in the configuration: a key, or the code of its problem. */
type Shapes = readonly (readonly [what: string, value: string, expected: string, detail?: RegExp])[];

const plain = (scheme: string): Shapes => [
  ['a key', `${scheme} ${key}`, key],
  ['a key after several spaces', `${scheme}   ${key}`, key],
  ['a key of another format', `${scheme} ${foreign}`, foreign],
  ['the scheme in capitals', `${scheme.toUpperCase()} ${key}`, key],
  ['the scheme in lower case', `${scheme.toLowerCase()} ${key}`, key],
  ['a mistyped key', `${scheme} ${mistyped}`, 'invalid_api_key'],
  ['a key that is too long', `${scheme} ${'x'.repeat(513)}`, 'invalid_api_key'],
  ['a control character in the key', `${scheme} ${key}\x01`, 'invalid_api_key'],
  ['no credential', scheme, 'unauthenticated', /must read/],
  ['no space', `${scheme}${key}`, 'unauthenticated', /must read/],
  ['a tab for the space', `${scheme}\t${key}`, 'unauthenticated', /must read/],
  ['two keys', `${scheme} ${key} ${other}`, 'unauthenticated', /must read/],
  ['two keys that a proxy joined', `${scheme} ${key}, ${scheme} ${other}`, 'unauthenticated', /must read/],
  ['a comma', `${scheme} ${key},`, 'unauthenticated', /must read/],
];

const shapes: Readonly<Record<AuthorizationScheme, Shapes>> = {
  Bearer: plain('Bearer'),
  Token: plain('Token'),
  ApiKey: plain('ApiKey'),
  Basic: [
    ['the key as user name', `Basic ${base64(`${key}:`)}`, key],
    ['the key as password', `Basic ${base64(`:${key}`)}`, key],
    ['the key as password of any user name', `Basic ${base64(`api:${key}`)}`, key],
    ['a user name beyond ASCII', `Basic ${base64(`\xc3\xa9:${key}`)}`, key],
    ['a key with colons as password', `Basic ${base64(`api:${foreign}`)}`, foreign],
    ['the scheme in capitals', `BASIC ${base64(`${key}:`)}`, key],
    ['the scheme in lower case', `basic  ${base64(`${key}:`)}`, key],
    ['a mistyped key', `Basic ${base64(`${mistyped}:`)}`, 'invalid_api_key'],
    ['a password that is no key', `Basic ${base64(`api:x`)}`, 'invalid_api_key'],
    ['a key with colons as user name', `Basic ${base64(`${foreign}:`)}`, foreign.slice('acme:'.length) + ':'],
    ['a key beyond ASCII', `Basic ${base64(`${foreign}\xe9`)}`, 'invalid_api_key'],
    ['two keys', `Basic ${base64(`${key}:${other}`)}`, 'unauthenticated', /password must be empty/],
    ['the same key twice', `Basic ${base64(`${key}:${key}`)}`, 'unauthenticated', /password must be empty/],
    ['a key with a password', `Basic ${base64(`${key}:x`)}`, 'unauthenticated', /password must be empty/],
    ['neither user name nor password', `Basic ${base64(':')}`, 'unauthenticated', /^Send an API key/],
    ['no colon', `Basic ${base64(key)}`, 'unauthenticated', /no colon/],
    ['no base64', `Basic ${key}`, 'unauthenticated', /not base64/],
    ['no padding', `Basic ${base64(`ab:${key}`).replace(/=+$/, '')}`, 'unauthenticated', /not base64/],
    ['too much padding', `Basic ${base64(`${key}:`)}=`, 'unauthenticated', /not base64/],
    ['bits behind the last byte', `Basic ${base64('ab:c').replace(/Yw==$/, 'Yx==')}`, 'unauthenticated', /not base64/],
    ['base64 for URLs', `Basic ${base64('?>?:?>?').replaceAll('/', '_')}`, 'unauthenticated', /not base64/],
    ['a space in the base64', `Basic ${base64(`${key}:`).replace(/(?<=^.{9})/, ' ')}`, 'unauthenticated', /not base64/],
    ['two that a proxy joined', `Basic ${base64(`${key}:`)}, Basic ${base64(`${key}:`)}`, 'unauthenticated', /not base64/],
    ['a NUL behind the key', `Basic ${base64(`${key}\0:`)}`, 'unauthenticated', /control character/],
    ['a line break in the user name', `Basic ${base64(`a\r\nb:${key}`)}`, 'unauthenticated', /control character/],
    ['a DEL', `Basic ${base64(`\x7f:${key}`)}`, 'unauthenticated', /control character/],
    ['no credential', 'Basic', 'unauthenticated', /must read/],
    ['a long user name', `Basic ${base64(`${'u'.repeat(511)}:${'k'.repeat(512)}`)}`, 'k'.repeat(512)],
    ['a user name that is too long', `Basic ${base64(`${'u'.repeat(basicMaxLength)}:${key}`)}`, 'unauthenticated', /too long/],
  ],
}; // prettier-ignore

const isCode = (text: string): boolean => text === 'unauthenticated' || text === 'invalid_api_key';

for (const scheme of authorizationSchemes) {
  const sets: readonly AuthorizationScheme[][] = [
    [...new Set(['Bearer', scheme] as const)],
    [...authorizationSchemes],
  ];
  for (const schemes of sets) {
    t.test(
      `${scheme} among ${schemes.join(', ')}: each form is the key that it carries, or its problem`,
      async (t) => {
        const read = credentialReader('tgw', [], schemes);
        for (const [what, value, expected, detail = /./] of shapes[scheme]) {
          const credentials = read({ authorization: [value], apiKeys: [] });
          if (isCode(expected)) t.match(credentials, { problem: { code: expected, detail } }, what);
          else t.strictSame(credentials, { digest: digestSecret(expected) }, what);
        }
      },
    );
  }

  t.test(`${scheme} that is not configured is no credential`, async (t) => {
    const schemes = authorizationSchemes.filter((one) => one !== scheme);
    const read = credentialReader('tgw', [], schemes);
    for (const [what, value] of shapes[scheme])
      t.match(
        read({ authorization: [value], apiKeys: [] }),
        { problem: { code: 'unauthenticated', detail: /^The Authorization header must read/ } },
        what,
      );
  });

  t.test(`${scheme} beside another credential is no credential`, async (t) => {
    const read = credentialReader('tgw', ['X-API-Key'], authorizationSchemes);
    for (const [what, value] of shapes[scheme])
      for (const sent of [
        { authorization: [value], apiKeys: [other] },
        { authorization: [value, `Bearer ${other}`], apiKeys: [] },
        { authorization: [`Bearer ${other}`, value], apiKeys: [] },
      ])
        t.match(read(sent), { problem: { code: 'unauthenticated' } }, what);
  });
}

t.test('a request is told every scheme that is configured', async (t) => {
  const read = credentialReader('tgw', ['X-API-Key'], ['Bearer', 'Token', 'Basic']);
  t.match(read({ authorization: [], apiKeys: [] }), {
    problem: {
      detail:
        'Send an API key: `Authorization: Bearer <API_KEY>` or `Authorization: Token <API_KEY>` or `Authorization: Basic <base64 of API_KEY:>` or `X-API-Key: <API_KEY>`.',
    },
  });
  t.match(read({ authorization: ['Digest x'], apiKeys: [] }), {
    problem: {
      detail:
        'The Authorization header must read `Bearer <API_KEY>` or `Token <API_KEY>` or `Basic <base64 of API_KEY:>`.',
    },
  });
  t.strictSame(challengesOf(authorizationSchemes), ['Bearer', 'Token', 'ApiKey', 'Basic realm="api"']);
});
