// class: pure
import t from 'tap';
import fc from 'fast-check';
import { mergeMetadata } from '../../src/domain/account.ts';
import { isExternalId } from '../../src/domain/external-id.ts';
import { foldHeaderName, headerNames } from '../../src/domain/header-names.ts';
import { parseAccountId, parseGivenId, uuidV7 } from '../../src/domain/ids.ts';
import { methodKind } from '../../src/domain/acting-decision.ts';
import { catalogue } from '../../src/domain/problem.ts';
import { grantableToSubAccount } from '../../src/domain/scope.ts';

t.test('a made id is a version 7 UUID and sorts by time', async () => {
  const random = fc.uint8Array({ minLength: 10, maxLength: 10 });
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  fc.assert(
    fc.property(time, time, random, random, (a, b, randomA, randomB) => {
      const [idA, idB] = [uuidV7(a, randomA), uuidV7(b, randomB)];
      const wellFormed =
        parseAccountId(idA) === idA && idA.charAt(14) === '7' && '89ab'.includes(idA.charAt(19));
      return wellFormed && (a === b || a < b === idA < idB);
    }),
  );
});

t.test('an external_id is 1 to 255 visible ASCII characters without space and comma', async (t) => {
  for (let code = 0; code < 256; code++) {
    const visible = code > 0x20 && code < 0x7f && code !== 0x2c;
    t.equal(isExternalId(String.fromCharCode(code)), visible, `character ${String(code)}`);
  }
  t.ok(isExternalId('x'.repeat(255)));
  t.notOk(isExternalId('x'.repeat(256)));
  t.notOk(isExternalId(''));
  t.notOk(isExternalId('a\n'));
});

t.test('names that a careless reader takes for a trusted header fold to it', async (t) => {
  const trusted = foldHeaderName(headerNames().resolvedTenant);
  for (const name of [
    'x_service_resolved_tenant',
    'X.Service.Resolved.Tenant',
    'X-SERVICE_resolved~tenant',
  ]) {
    t.equal(foldHeaderName(name), trusted, name);
  }
  t.not(foldHeaderName('X-Serviced'), trusted);
});

t.test('only the seven methods are ever proxied, and four of them are writes', async (t) => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) t.equal(methodKind(method), 'write');
  for (const method of ['GET', 'HEAD', 'OPTIONS']) t.equal(methodKind(method), 'read');
  for (const method of ['TRACE', 'CONNECT', 'PROPFIND', 'get', '', 'QUERY'])
    t.equal(methodKind(method), undefined);
});

t.test('a sub-account key may not hold a scope of the management API', async (t) => {
  for (const scope of ['sub_accounts:read', 'sub_accounts:write', 'sub_accounts:x:y', 'sub_accounts']) {
    t.notOk(grantableToSubAccount(scope), scope);
  }
  for (const scope of ['tracking:read', 'sub_accounts_report', 'x:sub_accounts:write']) {
    t.ok(grantableToSubAccount(scope), scope);
  }
});

t.test('metadata is merged: null removes, the rest stays, seventeen pairs are too many', async (t) => {
  t.same(mergeMetadata({ a: '1', b: '2' }, { b: null, c: '3' }), { a: '1', c: '3' });
  t.same(mergeMetadata({ a: '1' }, { missing: null }), { a: '1' });
  const sixteen = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${String(i)}`, 'v']));
  t.same(mergeMetadata(sixteen, {}), sixteen);
  t.equal(mergeMetadata(sixteen, { more: 'v' }), undefined);
  t.ok(mergeMetadata(sixteen, { more: 'v', k0: null }));
});

t.test('metadata keys that name object machinery are plain keys', async (t) => {
  const merged = mergeMetadata({}, JSON.parse('{"__proto__":"x"}') as Record<string, string>);
  t.same(Object.keys(merged ?? {}), ['__proto__']);
});

t.test('every code of the catalogue has a status of the 4xx or 5xx family and a title', async (t) => {
  for (const [code, { status, title }] of Object.entries(catalogue)) {
    t.ok(status >= 400 && status < 600 && title.length > 0, code);
    t.match(code, /^[a-z_]+$/);
  }
});

t.test('an operator may give an account any UUID but the nil and the max one', async (t) => {
  const given = '6A1C3D5E-0000-4000-8000-00000000000a';
  t.equal(parseGivenId(given), given.toLowerCase());
  t.equal(parseGivenId('00000000-0000-0000-0000-000000000001'), '00000000-0000-0000-0000-000000000001');
  for (const digit of ['0', 'f', 'F'])
    t.equal(parseGivenId(given.replaceAll(/[^-]/g, digit)), undefined, digit);
  t.equal(parseGivenId('no UUID'), undefined);
});
