// class: app
import t from 'tap';
import { apiKeyFields } from '../../../src/api/api-keys/resource.ts';
import { parseApiKey } from '../../../src/domain/api-key.ts';
import { startApis } from '../../support/apis.ts';
import type { HttpResponse } from '../../support/http-client.ts';

/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t);

/** Members of a key of a sub-account in responses. */
const listed = Object.keys(apiKeyFields).filter((name) => name !== 'account_id');

t.test('a key is minted, listed, revoked, and its secrets are in the first response alone', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  const scopes = ['tracking:read', 'tracking:write'];
  const minted = await parent.call('POST', `/${child.id}/api-keys`, { body: { name: 'CI', scopes } });
  t.match(minted, {
    status: 201,
    headers: { 'cache-control': 'no-store' },
    body: {
      sub_account_id: child.id,
      name: 'CI',
      scopes,
      status: 'active',
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
      rotated_from: null,
    },
  });
  t.same(Object.keys(minted.body).sort(), ['api_key', 'client_secret', ...listed].sort());
  const { id, api_key: key, client_secret: secret, prefix, last4 } = minted.body as Record<string, string>;
  t.ok(parseApiKey(key ?? ''), 'the key is one of ours, checksum included');
  t.match(secret, /^tgs_/);
  t.ok(key?.startsWith(prefix ?? ' ') && key.endsWith(last4 ?? ' '));

  const later: HttpResponse[] = [await parent.call('GET', `/${child.id}/api-keys`)];
  const { api_key: _key, client_secret: _secret, ...record } = minted.body;
  t.same(later[0]?.body['data'], [record], 'the list has what the mint said, without the secrets');
  later.push(await parent.call('POST', `/${child.id}/api-keys/${id}/revoke`));
  t.match(later[1], { status: 200, body: { ...record, status: 'revoked', revoked_at: /Z$/ } });
  later.push(await parent.call('POST', `/${child.id}/api-keys/${id?.toUpperCase()}/revoke`));
  t.same(later[2]?.body, later[1]?.body, 'a second revocation changes nothing');
  later.push(
    await parent.call('GET', `/${child.id}/api-keys`),
    await parent.call('GET', `/${child.id}`),
    await parent.call('GET', ''),
    await parent.call('POST', `/${child.id}/api-keys`, { body: { name: 'CI', scopes } }),
    await apis.call('GET', '/v1/sub-accounts', { key: key ?? '' }),
    await parent.call('POST', `/${child.id}/api-keys/${key}/revoke`),
  );
  for (const response of later) {
    // The path that a client made up comes back as `instance`, so that one row is looked at without it.
    const { instance: _instance, ...body } = response.body;
    const everything = JSON.stringify([response.headers, body]);
    for (const canary of [key, secret, key?.slice(9, -5), secret?.slice(9, -5)])
      t.notMatch(everything, canary);
  }
});

t.test('scopes are optional, taken as they are, and never those of management', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  const mint = (body: object) => parent.call('POST', `/${id}/api-keys`, { body: { name: 'k', ...body } });
  t.match(await mint({}), { status: 201, body: { scopes: [] } });
  const widest = [...Array.from({ length: 49 }, (_, i) => `a-Z_0.9*:b:${i}`), 'x'.repeat(100)];
  t.same((await mint({ scopes: widest })).body['scopes'], widest);

  for (const scope of ['sub_accounts:read', 'sub_accounts:write', 'sub_accounts:anything', 'sub_accounts']) {
    t.match(await mint({ scopes: ['tracking:read', scope] }), {
      status: 400,
      body: { code: 'scope_not_grantable', errors: [{ pointer: '/scopes/1' }] },
    });
  }
  const wrong: [unknown, string][] = [
    [[''], '/scopes/0'],
    [['a b'], '/scopes/0'],
    [['a:'], '/scopes/0'],
    [[':a'], '/scopes/0'],
    [['a::b'], '/scopes/0'],
    [['a,b'], '/scopes/0'],
    [['ä'], '/scopes/0'],
    [['a\n'], '/scopes/0'],
    [['x'.repeat(101)], '/scopes/0'],
    [['a', 5], '/scopes/1'],
    [['a', null], '/scopes/1'],
    [['a', 'b', 'a'], '/scopes'],
    [Array.from({ length: 51 }, (_, i) => `s${i}`), '/scopes'],
    ['tracking:read', '/scopes'],
    [{}, '/scopes'],
    [null, '/scopes'],
  ];
  for (const [scopes, pointer] of wrong) {
    t.match(
      await mint({ scopes }),
      { status: 400, body: { code: 'invalid_request', errors: [{ pointer }] } },
      JSON.stringify(scopes).slice(0, 40),
    );
  }
  t.equal(((await parent.call('GET', `/${id}/api-keys`)).body['data'] as unknown[]).length, 2);
});

t.test('an expiry lies in the future; when it has come, the key is expired', async (t) => {
  let skewMs = 0;
  const apis = await startApis(t, {
    clock: { wallMs: () => Date.now() + skewMs, monotonicMs: () => performance.now() },
  });
  const parent = await apis.parent();
  const child = await parent.create();
  const mint = (expires_at: unknown) =>
    parent.call('POST', `/${child.id}/api-keys`, { body: { name: 'k', expires_at } });
  for (const bad of [
    '2020-01-01T00:00:00Z',
    new Date().toISOString(),
    'tomorrow',
    '2999-02-30',
    '',
    5,
    true,
    ['2999-01-01'],
  ]) {
    t.match(
      await mint(bad),
      { status: 400, body: { code: 'invalid_request', errors: [{ pointer: '/expires_at' }] } },
      String(bad),
    );
  }
  t.match(await mint(null), { status: 201, body: { expires_at: null } });
  t.match(await mint('2999-01-01T02:00:00+02:00'), {
    status: 201,
    body: { expires_at: '2999-01-01T00:00:00.000Z' },
  });

  const soon = await mint(new Date(Date.now() + 3_600_000).toISOString());
  t.match(soon, { status: 201, body: { status: 'active' } });
  skewMs = 3_600_001;
  t.match((await parent.call('GET', `/${child.id}/api-keys`)).body, {
    data: [{ id: soon.body['id'], status: 'expired' }, {}, {}],
  });
});

t.test('a deactivated sub-account may be given keys, which work once it is reactivated', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  await child.act('deactivate');
  const key = await child.mint();
  const codeOf = async () => (await apis.call('GET', '/v1/sub-accounts', { key })).body['code'];
  t.equal(await codeOf(), 'account_deactivated');
  await child.act('reactivate');
  t.equal(await codeOf(), 'parent_key_required');
});
