import t from 'tap';
import fc from 'fast-check';
import { decodeFact, encodeFact } from '../../../src/adapters/redis/stamped-json.ts';
import type { FactKey, FactValue } from '../../../src/ports/facts.ts';

const examples: [FactKey, unknown][] = [
  ['k:digest', { keyId: 'k', accountId: 'a', scopes: ['x:read'], expiresAtMs: null, revoked: false }],
  ['k:digest', { keyId: 'k', accountId: 'a', scopes: [], expiresAtMs: 1_700_000_000_000, revoked: true }],
  ['a:id', { id: 'id', parentId: null, externalId: null, status: 'suspended' }],
  ['a:id', { id: 'id', parentId: 'p', externalId: 'e', status: 'active' }],
  ['x:p:e', 'id'],
  ['n:p', 0],
];

t.test('what was written is read back, with its stamp', async (t) => {
  for (const [key, value] of examples) {
    const fact = { value: value as FactValue, seq: 12, incarnation: 'here' };
    t.same(decodeFact(key, encodeFact(fact)), fact);
  }
});

t.test('text of any other form is as good as absent', async (t) => {
  const [key, value] = examples[0] as [FactKey, object];
  const good = { v: 1, s: 12, i: 'here', f: value };
  for (const bad of [
    { ...good, v: 2 },
    { ...good, s: '12' },
    { ...good, s: 1.5 },
    { ...good, i: 7 },
    { ...good, f: null },
    { ...good, f: { ...value, revoked: 'no' } },
    { ...good, f: { ...value, scopes: [1] } },
    { ...good, f: { ...value, expiresAtMs: 'never' } },
    { ...good, f: 3 },
  ]) {
    t.equal(decodeFact(key, JSON.stringify(bad)), undefined, JSON.stringify(bad));
  }
  t.equal(decodeFact('a:id', JSON.stringify({ ...good, f: { id: 'id', status: 'gone' } })), undefined);
  t.equal(decodeFact('n:p', JSON.stringify({ ...good, f: '1' })), undefined);
});

t.test('no text makes it throw', async () => {
  fc.assert(
    fc.property(fc.constantFrom(...examples), fc.oneof(fc.string(), fc.json()), ([key], text) => {
      decodeFact(key, text);
    }),
  );
});
