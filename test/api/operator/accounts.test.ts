// class: app
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { operatorToken, startApis } from '../../support/apis.ts';
import { httpClient } from '../../support/http-client.ts';

/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t);

const both = ['sub_accounts:read', 'sub_accounts:write'];

t.test('the operator makes parents and their keys, and the keys manage sub-accounts', async (t) => {
  const id = randomUUID();
  const chosen = { name: 'Acme', external_id: 'cus/42', metadata: { plan: 'gold' } };
  const created = await apis.operator('POST', '/accounts', { body: { ...chosen, id: id.toUpperCase() } });
  t.match(created, {
    status: 201,
    body: { ...chosen, id, status: 'active', active_sub_accounts: 0, created_at: /Z$/ },
  });
  t.same((await apis.operator('GET', `/accounts/${id}`)).body, created.body);
  t.same((await apis.operator('GET', `/accounts/${id.toUpperCase()}`)).body, created.body);

  const minted = await apis.operator('POST', `/accounts/${id}/api-keys`, {
    body: { name: 'root', scopes: [...both, 'tracking:read'], expires_at: '2999-01-01T00:00:00Z' },
  });
  t.match(minted, {
    status: 201,
    headers: { 'cache-control': 'no-store' },
    body: {
      account_id: id,
      name: 'root',
      scopes: [...both, 'tracking:read'],
      expires_at: '2999-01-01T00:00:00.000Z',
      api_key: /^tgw_/,
      client_secret: /^tgs_/,
    },
  });
  t.notOk('sub_account_id' in minted.body);
  const key = String(minted.body['api_key']);
  const call = (method: string, path: string, body?: object) =>
    apis.call(method, `/v1/sub-accounts${path}`, { key, ...(body && { body }) });
  t.equal((await call('POST', '', { name: 'Child' })).status, 201);
  t.match((await apis.operator('GET', `/accounts/${id}`)).body, { active_sub_accounts: 1 });

  const { api_key: _key, client_secret: _secret, ...record } = minted.body;
  t.same((await apis.operator('GET', `/accounts/${id}/api-keys`)).body['data'], [record]);
  const revoked = await apis.operator('POST', `/accounts/${id}/api-keys/${String(record['id'])}/revoke`);
  t.match(revoked, { status: 200, headers: { 'x-service-enforced': /^replicas=/ } });
  t.match(await call('GET', ''), { status: 401, body: { code: 'api_key_revoked' } });
});

t.test('accounts are listed newest first, in pages', async (t) => {
  const apis = await startApis(t);
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.unshift((await apis.parent()).id);
  const [newest, second, oldest] = ids.map((id) => ({ id }));
  const first = await apis.operator('GET', '/accounts?limit=2');
  t.match(first.body, { data: [newest, second], has_more: true });
  const rest = await apis.operator('GET', `/accounts?limit=2&cursor=${String(first.body['next_cursor'])}`);
  t.match(rest.body, { data: [oldest], has_more: false, next_cursor: null });
  t.match(await apis.operator('GET', '/accounts?status=deactivated'), { status: 400 });
});

t.test('what does not exist, is no parent or is no request is rejected', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  for (const id of [child.id, parent.keyId, 'x', 'x'.repeat(5000), '00000000-0000-0000-0000-000000000000']) {
    for (const [method, rest, body] of [
      ['GET', ''],
      ['POST', '/suspend'],
      ['POST', '/resume'],
      ['GET', '/api-keys'],
      ['POST', '/api-keys', { name: 'k' }],
      ['POST', `/api-keys/${parent.keyId}/revoke`],
      ['POST', '/api-keys/import', { keys: [{ api_key: 'a-key-that-was-made-elsewhere', name: 'n' }] }],
      ['PATCH', '', { name: 'n' }],
      ['GET', '/sub-accounts'],
      ['POST', '/sub-accounts', { name: 'n' }],
      ['POST', `/sub-accounts/${child.id}/deactivate`],
    ] as const) {
      const response = await apis.operator(method, `/accounts/${id}${rest}`, body && { body });
      t.match(response, { status: 404, body: { code: 'not_found' } }, `${method} ${id.slice(0, 40)}${rest}`);
    }
  }
  const bad: [string, unknown, string][] = [
    ['/accounts', {}, '/name'],
    ['/accounts', { name: '' }, '/name'],
    ['/accounts', { name: 'x', id: 'x' }, '/id'],
    ['/accounts', { name: 'x', id: null }, '/id'],
    ['/accounts', { name: 'x', id: '00000000-0000-0000-0000-000000000000' }, '/id'],
    ['/accounts', { name: 'x', id: 'FFFFFFFF-ffff-ffff-ffff-ffffffffffff' }, '/id'],
    ['/accounts', { name: 'x', external_id: 'a b' }, '/external_id'],
    ['/accounts', { name: 'x', metadata: { k: 1 } }, '/metadata/k'],
    ['/accounts', { name: 'x', limits: { requests_per_second: 1 } }, '/limits'],
    ['/accounts', { name: 'x', max_sub_accounts: 1 }, '/max_sub_accounts'],
    [`/accounts/${parent.id}/sub-accounts`, { name: 'x', id: 'x' }, '/id'],
    [`/accounts/${parent.id}/sub-accounts`, {}, '/name'],
    [`/accounts/${parent.id}/api-keys`, { name: 'x', scopes: ['a b'] }, '/scopes/0'],
  ];
  for (const [path, body, pointer] of bad) {
    t.match(await apis.operator('POST', path, { body }), { status: 400, body: { errors: [{ pointer }] } });
  }
  t.match(await apis.operator('PUT', `/accounts/${parent.id}`), {
    status: 405,
    headers: { allow: 'DELETE, GET, HEAD, PATCH' },
  });
  t.match(await apis.operator('GET', '/nothing'), { status: 404 });
  t.match(await apis.operator('GET', '/accounts?limit=1', { headers: { expect: 'foo' } }), {
    status: 417,
    body: { code: 'expectation_failed', instance: '/admin/v1/accounts' },
  });
});

t.test('only the bearer of the token is let in, and nothing is told to anybody else', async (t) => {
  const parent = await apis.parent();
  const anybody = httpClient(t, apis.internalOrigin);
  const wrong: readonly (readonly [string, string])[][] = [
    [],
    [['Authorization', '']],
    [['Authorization', 'Bearer ']],
    [['Authorization', operatorToken]],
    [['Authorization', `Basic ${operatorToken}`]],
    [['Authorization', `Bearer ${operatorToken}x`]],
    [['Authorization', `Bearer ${operatorToken.slice(0, -1)}`]],
    [['Authorization', `Bearer ${operatorToken.toUpperCase()}`]],
    [['Authorization', `Bearer ${parent.key}`]],
    [
      ['Authorization', `Bearer ${operatorToken}`],
      ['Authorization', `Bearer ${operatorToken}`],
    ],
  ];
  for (const headers of wrong) {
    for (const [method, path] of [
      ['GET', '/accounts'],
      ['POST', '/accounts'],
      ['DELETE', '/accounts'],
      ['GET', '/nothing'],
      ['MKCOL', '/nothing'],
    ] as const) {
      const response = await anybody(method, `/admin/v1${path}`, { headers });
      t.match(response, {
        status: 401,
        headers: { 'www-authenticate': 'Bearer' },
        body: { code: 'unauthenticated' },
      });
      t.notMatch(response.text, operatorToken);
    }
  }
  const right = await anybody('GET', '/admin/v1/accounts', {
    headers: { authorization: `bearer  ${operatorToken}` },
  });
  t.equal(right.status, 200, 'the scheme is read in any case');
});

t.test('without a token the operator API is off, whatever token a request has', async (t) => {
  const apis = await startApis(t, { adminToken: null });
  for (const [method, path] of [
    ['GET', '/accounts'],
    ['POST', '/accounts'],
    ['GET', ''],
    ['GET', '/openapi.json'],
    ['GET', '/nothing'],
  ] as const) {
    const response = await apis.operator(method, path, { key: '' });
    t.match(response, { status: 404, body: { code: 'not_found', detail: /ADMIN_TOKEN/ } });
  }
});
