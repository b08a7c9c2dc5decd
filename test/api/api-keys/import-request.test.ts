// class: pure
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { readImport } from '../../../src/api/api-keys/import-request.ts';
import { mostImported } from '../../../src/api/rest/import-size.ts';
import { apiKeyReader, digestSecret, formatSecret, secretRandomBytes } from '../../../src/domain/api-key.ts';
import type { AccountId, KeyId } from '../../../src/domain/ids.ts';
import type { FieldFault, Problem } from '../../../src/domain/problem.ts';
import type { KeyToImport } from '../../../src/ports/api-keys.ts';

const parent = '01980000-0000-7000-8000-000000000001' as AccountId;
const sub = '01980000-0000-7000-8000-000000000002';
const nowMs = Date.UTC(2027, 0, 1);
const rules = {
  parent,
  readApiKey: apiKeyReader('acme'),
  keyPrefix: 'acme',
  nowMs,
  newId: () => 'an id' as KeyId,
};

/** What comes of a body in which the schema finds no fault. */
function read(keys: readonly object[], schemaFaults: readonly FieldFault[] = []) {
  return readImport({ keys }, schemaFaults, rules) as {
    readonly keys?: readonly KeyToImport[];
    readonly problem?: Problem;
  };
}

function pointers(keys: readonly object[]): (string | undefined)[] {
  return (read(keys).problem?.errors ?? []).map(({ pointer }) => pointer);
}

/** A right key, and how to spoil it: the member at fault. */
const name = fc.string({ minLength: 1, maxLength: 20 });
const secret = fc.uuid().map((text) => `sk.${text}`);
const good = fc.record(
  {
    name,
    scopes: fc.constantFrom([], ['a:b'], ['tracking:read', 'x']),
    expires_at: fc.constantFrom(null, '2027-06-01T00:00:00Z', '2028-01-31'),
    sub_account_id: fc.constantFrom(null, sub),
  },
  { requiredKeys: ['name'] },
);
const spoiled: readonly (readonly [string, (key: Record<string, unknown>) => object])[] = [
  ['', ({ api_key: _, sha256: __, ...key }) => key],
  ['/sha256', (key) => ({ ...key, sha256: 'a'.repeat(64) })],
  ['/api_key', (key) => ({ ...key, api_key: 'acme_of_another_gateway' })],
  ['/api_key', (key) => ({ ...key, api_key: 'tgw_0123456789012345678901234567890123456' })],
  ['/expires_at', (key) => ({ ...key, expires_at: '2027-01-01T00:00:00Z' })],
  ['/sub_account_id', (key) => ({ ...key, sub_account_id: 'ext:acme' })],
  ['/prefix', (key) => ({ ...key, prefix: 'no' })],
  ['/last4', (key) => ({ ...key, last4: '!!!!' })],
  ['/prefix', (key) => ({ ...key, prefix: String(key['api_key']).slice(0, 11) })],
  ['/scopes/1', (key) => ({ ...key, sub_account_id: sub, scopes: ['a', 'sub_accounts:write'] })],
];

t.test(
  'keys without faults are taken in the order given, each by its digest and with its owner',
  async () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(secret, { minLength: 1, maxLength: 30 }),
        fc.infiniteStream(good),
        (texts, more) => {
          const keys = texts.map((text, i) => {
            const key = more.next().value as Record<string, unknown>;
            const sha256 = createHash('sha256').update(text).digest('hex');
            return i % 3 === 0 ? { ...key, sha256 } : { ...key, api_key: text };
          });
          const made = read(keys).keys ?? [];
          return (
            made.length === texts.length &&
            made.every(({ digest, owner, name: given, expiresAt }, i) => {
              const key = keys[i] as unknown as Record<string, string | null | undefined>;
              return (
                digest === digestSecret(texts[i] ?? '') &&
                owner === (key['sub_account_id'] ?? parent) &&
                given === key['name'] &&
                (expiresAt?.getTime() ?? null) ===
                  (key['expires_at'] == null ? null : Date.parse(key['expires_at']))
              );
            })
          );
        },
      ),
    );
  },
);

t.test('every fault of every key is named by its pointer, and no key is taken then', async (t) => {
  fc.assert(
    fc.property(
      fc.uniqueArray(secret, { minLength: 1, maxLength: 20 }),
      fc.infiniteStream(fc.option(fc.constantFrom(...spoiled))),
      fc.infiniteStream(good),
      (texts, spoils, more) => {
        const expected: string[] = [];
        const keys = texts.map((text, i) => {
          const key = { ...(more.next().value as object), api_key: text };
          const spoil = spoils.next().value as (typeof spoiled)[number] | null;
          if (spoil === null) return key;
          expected.push(`/keys/${i}${spoil[0]}`);
          // Spoiled in one way alone: the same bad key twice would be named once more.
          return spoil[1]({ ...key });
        });
        const found = read(keys);
        return (
          JSON.stringify(pointers(keys)) === JSON.stringify(expected) &&
          (found.keys === undefined) === expected.length > 0
        );
      },
    ),
  );
  t.same(pointers([{ name: 'a' }, 7 as unknown as object, null as unknown as object]), ['/keys/0']);
});

t.test('no body, whatever is in it, makes reading fail', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.record({ keys: fc.array(fc.anything()) })), (body) => {
      const outcome = readImport(body, [{ pointer: '', detail: 'is at fault.' }], rules);
      return 'problem' in outcome;
    }),
  );
});

t.test('one key is in an import once, whether by value or by digest', async (t) => {
  const text = 'sk.0123456789abcdef';
  const sha256 = createHash('sha256').update(text).digest('hex');
  const keys = [
    { name: 'a', api_key: text },
    { name: 'b', api_key: `${text}x` },
    { name: 'c', sha256 },
    { name: 'd', api_key: text },
  ];
  t.same(pointers(keys), ['/keys/2/sha256', '/keys/3/api_key']);
  t.match(read(keys).problem, {
    code: 'invalid_request',
    errors: [{ detail: 'repeats the key of `/keys/0`.' }, {}],
  });
});

t.test('what the schema found is reported together with the rest, in the order of the keys', async (t) => {
  const schema = [{ pointer: '/keys/1/name', detail: 'is required.' }];
  const keys = [
    { name: 'a', api_key: 'acme_mistyped_key_' },
    { api_key: 'sk.0123456789abcdef' },
    { name: 'c' },
  ];
  t.same(
    read(keys, schema).problem?.errors?.map(({ pointer }) => pointer),
    ['/keys/0/api_key', '/keys/1/name', '/keys/2'],
  );
});

t.test('faults name up to every key of an import, and never what was sent', async (t) => {
  const keys = Array.from({ length: mostImported }, (_, i) => ({
    name: 'n',
    api_key: `acme_secret_value_${i}`,
  }));
  const { problem } = read(keys);
  t.equal(problem?.errors?.length, mostImported);
  t.notMatch(JSON.stringify(problem), /secret_value/);
});

t.test('a scope that only parents may hold is its own problem, unless there are others', async (t) => {
  const key = { name: 'n', api_key: 'sk.0123456789abcdef', scopes: ['sub_accounts:read'] };
  t.equal(read([key]).keys?.[0]?.owner, parent, 'a key of the parent may hold it');
  t.match(read([{ ...key, sub_account_id: sub }]).problem, {
    code: 'scope_not_grantable',
    errors: [{ pointer: '/keys/0/scopes/0' }],
  });
  t.match(read([{ ...key, sub_account_id: sub }, { name: 'n' }]).problem, { code: 'invalid_request' });
});

t.test('hints are taken from the key where none are given, and null shows nothing', async (t) => {
  const text = '0123456789'.repeat(4);
  const own = formatSecret('acme', new Uint8Array(secretRandomBytes));
  for (const [given, prefix, last4] of [
    [{ api_key: text }, '012345', '6789'],
    [{ api_key: text, prefix: null, last4: null }, null, null],
    [{ api_key: text, prefix: '0123456789' }, '0123456789', null],
    [{ api_key: text, last4: '6789' }, null, '6789'],
    [{ api_key: own }, own.slice(0, 9), own.slice(-4)],
    [{ api_key: own, prefix: own.slice(0, 9), last4: own.slice(-4) }, own.slice(0, 9), own.slice(-4)],
    [{ sha256: 'a'.repeat(64) }, null, null],
    [{ sha256: 'a'.repeat(64), prefix: 'acme_live_', last4: 'wxyz' }, 'acme_live_', 'wxyz'],
  ] as const) {
    t.match(read([{ name: 'n', ...given }]).keys, [{ prefix, last4 }], JSON.stringify(given));
  }
  t.same(pointers([{ name: 'n', api_key: text, prefix: '0123456', last4: '6789' }]), ['/keys/0/prefix']);
});
