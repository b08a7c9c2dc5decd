// class: app
/** Look at a key, rename it, let it expire at another time, and put another one in its place. */
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { mint } from '../../support/minted-keys.ts';
import { once } from '../../support/idempotent-calls.ts';

const apis = await startApis(t);
const future = '2999-01-01T00:00:00.000Z';

/** What is said to a key of a sub-account on a management path: 403 where it is good. */
async function codeOf(key: string): Promise<unknown> {
  return (await apis.call('GET', '/v1/sub-accounts', { key })).body['code'];
}

t.test('a parent looks at one key of its sub-accounts, and at no other', async (t) => {
  const [parent, stranger] = [await apis.parent(), await apis.parent()];
  const [one, two] = [await parent.create(), await parent.create()];
  const key = await mint(parent, one);
  t.match(await parent.call('GET', key.path), { status: 200, body: key.record });
  t.equal((await parent.call('GET', key.path.toUpperCase().replace('API-KEYS', 'api-keys'))).status, 200);
  const operators = `/accounts/${parent.id}/api-keys/${parent.keyId}`;
  t.match(await apis.operator('GET', operators), {
    status: 200,
    body: { account_id: parent.id, name: 'key' },
  });
  for (const path of [
    `/${two.id}/api-keys/${key.id}`,
    `/${one.id}/api-keys/${parent.keyId}`,
    `/${parent.id}/api-keys/${parent.keyId}`,
    `/${one.id}/api-keys/${one.id}`,
    `/${one.id}/api-keys/nonsense`,
    `/${one.id}/api-keys/${'a'.repeat(10_000)}`,
  ])
    for (const [method, end, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'Mine' }],
      ['POST', '/rotate', { expires_in: 0 }],
      ['POST', '/revoke', undefined],
    ] as const)
      t.match(await parent.call(method, path + end, { ...(body && { body }) }), {
        status: 404,
        body: { code: 'not_found' },
      });
  t.equal((await stranger.call('GET', key.path)).status, 404);
  t.same((await parent.call('GET', key.path)).body, key.record);
});

t.test('a list of keys shows those with one status', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  const keys = [await mint(parent, child), await mint(parent, child), await mint(parent, child)];
  await parent.call('POST', `${keys[1]?.path}/revoke`);
  const list = (query: string) => parent.call('GET', `/${child.id}/api-keys?${query}`);
  t.match((await list('status=revoked')).body, { data: [{ id: keys[1]?.id }], has_more: false });
  t.match((await list('status=expired')).body, { data: [], has_more: false });
  const { body } = await list('status=active&limit=1');
  t.match(body, { data: [{ id: keys[2]?.id }], has_more: true });
  const cursor = `cursor=${String(body['next_cursor'])}`;
  t.match((await list(`status=active&${cursor}`)).body, { data: [{ id: keys[0]?.id }], has_more: false });
  for (const other of ['', 'status=revoked&']) t.equal((await list(other + cursor)).status, 400);
});

t.test('a new name needs no wait, another expiry waits as a revoke does', async (t) => {
  const parent = await apis.parent();
  const key = await mint(parent, await parent.create());
  const patch = (body: object) => parent.call('PATCH', key.path, { body });
  const waited = apis.waitedFor.length;
  t.match(await patch({ name: 'Warehouse' }), {
    status: 200,
    headers: { 'x-service-enforced': undefined },
    body: { ...key.record, name: 'Warehouse' },
  });
  t.equal(apis.waitedFor.length, waited);
  for (const expires_at of [future, '2998-01-01T00:00:00.000Z', null]) {
    const changed = await patch({ expires_at });
    t.match(changed, { status: 200, headers: { 'x-service-enforced': /^replicas=/ }, body: { expires_at } });
    t.same(changed.body, { ...key.record, name: 'Warehouse', expires_at });
  }
  t.equal(apis.waitedFor.length, waited + 3);
  t.equal(await codeOf(key.apiKey), 'parent_key_required', 'it is the same key');
});

t.test('what cannot be changed of a key is said, and nothing is', async (t) => {
  const parent = await apis.parent();
  const key = await mint(parent, await parent.create());
  for (const [body, pointer] of [
    [{}, ''],
    [{ name: '' }, '/name'],
    [{ name: null }, '/name'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ expires_at: 'soon' }, '/expires_at'],
    [{ expires_at: '2020-01-01T00:00:00Z', name: 'New' }, '/expires_at'],
    [{ scopes: ['a:b'] }, '/scopes'],
    [{ limits: { requests_per_month: 5 } }, '/limits/requests_per_month'],
    [{ status: 'revoked' }, '/status'],
  ] as const)
    t.match(
      await parent.call('PATCH', key.path, { body }),
      { status: 400, body: { code: 'invalid_request', errors: [{ pointer }] } },
      JSON.stringify(body),
    );
  for (const [body, pointer] of [
    [{}, '/expires_in'],
    [{ expires_in: -1 }, '/expires_in'],
    [{ expires_in: 2_592_001 }, '/expires_in'],
    [{ expires_in: 0.5 }, '/expires_in'],
    [{ expires_in: '0' }, '/expires_in'],
    [{ expires_in: null }, '/expires_in'],
    [{ expires_in: 0, expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ expires_in: 0, name: 'New' }, '/name'],
    [{ expires_in: 0, scopes: [] }, '/scopes'],
    [{ expires_in: 0, limits: { requests_per_second: 5 } }, '/limits'],
  ] as const)
    t.match(
      await parent.call('POST', `${key.path}/rotate`, { body }),
      { status: 400, body: { code: 'invalid_request', errors: [{ pointer }] } },
      JSON.stringify(body),
    );
  t.same((await parent.call('GET', key.path)).body, key.record);

  await parent.call('POST', `${key.path}/revoke`);
  for (const response of [
    await parent.call('PATCH', key.path, { body: { expires_at: future } }),
    await parent.call('POST', `${key.path}/rotate`, { body: { expires_in: 0 } }),
  ])
    t.match(response, { status: 409, body: { code: 'key_not_active' } });
});

t.test(
  'rotated, a key is followed by one with its name and scopes, whose secrets are shown once',
  async (t) => {
    const parent = await apis.parent();
    const child = await parent.create();
    const old = await mint(parent, child, { scopes: ['a:b', 'c'], expires_at: future });
    const waited = apis.waitedFor.length;
    const response = await parent.call('POST', `${old.path}/rotate`, { body: { expires_in: 0 } });
    t.match(response, {
      status: 201,
      headers: { 'cache-control': 'no-store', 'x-service-enforced': /^replicas=/ },
      body: {
        sub_account_id: child.id,
        name: 'CI',
        scopes: ['a:b', 'c'],
        status: 'active',
        expires_at: null,
        rotated_from: old.id,
        client_secret: /^tgs_/,
      },
    });
    t.ok(apis.waitedFor.length > waited, 'the old one works nowhere when the response is there');
    const { api_key: apiKey, client_secret: secret, ...record } = response.body as Record<string, string>;
    t.equal(await codeOf(String(apiKey)), 'parent_key_required');
    t.equal(await codeOf(old.apiKey), 'api_key_revoked');
    const shown = await parent.call('GET', `/${child.id}/api-keys`);
    t.match(shown.body['data'], [record, { id: old.id, status: 'revoked', rotated_from: null }]);
    t.notOk(shown.text.includes(String(apiKey)) || shown.text.includes(String(secret)));
  },
);

t.test(
  'with its Idempotency-Key a rotation that comes again shows the new key, without secrets',
  async (t) => {
    const parent = await apis.parent();
    const old = await mint(parent, await parent.create());
    const rotate = once(parent.call);
    const first = await rotate(`${old.path}/rotate`, { expires_in: 60 });
    const { api_key: _key, client_secret: _secret, ...record } = first.body;
    t.match(await rotate(`${old.path}/rotate`, { expires_in: 60 }), {
      status: 201,
      headers: { 'idempotency-replayed': 'true' },
      body: { ...record, api_key: undefined, client_secret: undefined },
    });
    t.match(await rotate(`${old.path}/rotate`, { expires_in: 61 }), { status: 422 });
  },
);
