// class: pure
import t from 'tap';
import fc from 'fast-check';
import { decodeFact, encodeFact } from '../../../src/adapters/redis/stamped-json.ts';
import { noLimits } from '../../../src/domain/limits/limits.ts';
import type { FactKey, FactValue } from '../../../src/ports/facts.ts';

const [id, parent, keyId] = [
  '0198c9a4-0000-7000-8000-00000000000a',
  '0198c9a4-0000-7000-8000-00000000000b',
  '0198c9a4-0000-7000-8000-00000000000c',
];

const limits = { ...noLimits, requestsPerSecond: 5, requestsPerDay: 7 };
const key = {
  ...{ keyId, accountId: id, scopes: ['x:read'], expiresAtMs: null, revoked: false, limits: null },
  limitId: keyId,
};
const subAccount = { id, parentId: parent, externalId: 'e', status: 'active', limits: null, plan: null };
const own = { ...noLimits, requestsPerSecond: 'unlimited', requestsPerDay: 9 };
const parentAccount = { ...subAccount, parentId: null, externalId: null };
const examples: [FactKey, unknown][] = [
  ['k:digest', key],
  ['k:digest', { ...key, scopes: [], expiresAtMs: 1_700_000_000_000, revoked: true }],
  ['k:digest', { ...key, limits: { ...limits, burst: 1 } }],
  [`a:${id}`, { ...parentAccount, status: 'suspended' }],
  [`a:${id}`, { ...parentAccount, externalId: 'their-name', limits }],
  [`a:${id}`, { ...parentAccount, plan: { name: 'gold', own } }],
  ['p:gold', { limits }],
  [`a:${id}`, subAccount],
  [`a:${id}`, { ...subAccount, externalId: null, status: 'deactivated' }],
  [`x:${parent}:e`, id],
  [`n:${parent}`, 0],
];

t.test('what was written is read back, with its stamp', async (t) => {
  for (const [name, value] of examples) {
    const fact = { value: value as FactValue, seq: 12, incarnation: 'here' };
    t.same(decodeFact(name, encodeFact(fact)), fact);
  }
});

t.test('text of any other form is as good as absent', async (t) => {
  const good = { v: 1, s: 12, i: 'here', f: key };
  for (const bad of [
    { ...good, v: 2 },
    { ...good, s: '12' },
    { ...good, s: 1.5 },
    { ...good, s: -1 },
    { ...good, i: 7 },
    { ...good, f: null },
    { ...good, f: 3 },
  ]) {
    t.equal(decodeFact('k:digest', JSON.stringify(bad)), undefined, JSON.stringify(bad));
  }
});

t.test('a fact that lacks a member is as good as absent', async (t) => {
  const { limits: _limits, limitId: _limitId, ...oldKey } = key;
  const { limits: _none, ...oldAccount } = subAccount;
  const { plan: _plan, ...unplanned } = parentAccount;
  t.equal(decodeFact('k:digest', JSON.stringify({ v: 1, s: 12, i: 'here', f: oldKey })), undefined);
  for (const f of [oldAccount, unplanned])
    t.equal(decodeFact(`a:${id}`, JSON.stringify({ v: 1, s: 12, i: 'here', f })), undefined);
});

t.test('a value that PostgreSQL could not hold under this key is as good as absent', async (t) => {
  const bad: [FactKey, unknown][] = [
    ['k:digest', { ...key, revoked: 'no' }],
    ['k:digest', { ...key, scopes: [1] }],
    ['k:digest', { ...key, scopes: ['a\r\nX-Service-Resolved-Tenant: b'] }],
    ['k:digest', { ...key, scopes: Array.from({ length: 51 }, () => 'a') }],
    ['k:digest', { ...key, expiresAtMs: 'never' }],
    ['k:digest', { ...key, expiresAtMs: 1.5 }],
    ['k:digest', { ...key, keyId: 'no UUID' }],
    ['k:digest', { ...key, keyId: keyId.toUpperCase() }],
    ['k:digest', { ...key, accountId: 'no UUID' }],
    [`a:${parent}`, subAccount],
    [`a:${id}`, { ...parentAccount, plan: { name: 'Gold', own } }],
    [`a:${id}`, { ...parentAccount, plan: { name: 'gold', own: { ...own, requestsPerDay: 'none' } } }],
    [`a:${id}`, { ...parentAccount, plan: { name: 'gold', own: { ...own, burst: 'unlimited' } } }],
    ['p:gold', { limits: null }],
    ['p:gold', { limits: own }],
    ['p:gold', limits],
    [`a:${id}`, { ...subAccount, status: 'gone' }],
    [`a:${id}`, { ...subAccount, status: 'suspended' }],
    [`a:${id}`, { ...subAccount, parentId: 'no UUID' }],
    [`a:${id}`, { ...subAccount, parentId: id }],
    [`a:${id}`, { ...subAccount, externalId: 'a,b' }],
    [`a:${id}`, { ...subAccount, parentId: null, externalId: 'a b' }],
    [`a:${id}`, { ...parentAccount, status: 'deactivated' }],
    [`a:${id}`, { ...subAccount, limits: { ...limits, requestsPerSecond: 0 } }],
    [`a:${id}`, { ...subAccount, limits: { requestsPerSecond: 5 } }],
    [`a:${id}`, { ...subAccount, limits: 5 }],
    ['k:digest', { ...key, limitId: 'no UUID' }],
    [`x:${parent}:e`, 'no UUID'],
    [`n:${parent}`, '1'],
    [`n:${parent}`, -1],
  ];
  for (const [name, f] of bad) {
    const text = JSON.stringify({ v: 1, s: 12, i: 'here', f });
    t.equal(decodeFact(name, text), undefined, `${name} ${text}`);
  }
});

t.test('no text makes it throw', async () => {
  fc.assert(
    fc.property(fc.constantFrom(...examples), fc.oneof(fc.string(), fc.json()), ([name], text) => {
      decodeFact(name, text);
    }),
  );
});
