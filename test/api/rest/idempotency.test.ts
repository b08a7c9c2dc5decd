// class: app
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { elsewhere, once, subAccounts } from '../../support/idempotent-calls.ts';
import { freshStore, rawSql } from '../../support/store.ts';
import { unhurried } from '../../support/unhurried.ts';

const { url, store } = await freshStore(t, unhurried);
/** Two instances over one database: for tests that do not care which of them they ask. */
const apis = await startApis(t, { store });
const second = await startApis(t, { store });
const sql = rawSql(t, url);

t.test('the same request again, anywhere: the same status and body, and no second effect', async (t) => {
  const parent = await apis.parent();
  const key = randomUUID();
  const body = { name: 'Once', external_id: 'once', metadata: { b: '1', a: '2' } };
  const first = await once(parent.call, key)('', body);
  t.equal(first.status, 201);
  t.equal(first.headers['idempotency-replayed'], undefined);

  await parent.call('PATCH', `/${String(first.body['id'])}`, { body: { name: 'Renamed' } });
  const reordered = { metadata: { a: '2', b: '1' }, external_id: 'once', name: 'Once' };
  for (const again of [
    await once(parent.call, key)('', body),
    await once(elsewhere(second, parent), key)('', reordered),
  ]) {
    t.match(again, { status: 201, headers: { 'idempotency-replayed': 'true' } });
    t.equal(again.text, first.text, 'as the first response was');
  }
  t.equal((await subAccounts(parent)).length, 1);
  t.equal((await parent.call('POST', '', { body })).status, 409, 'without the key it is another request');
});

t.test('a mint that is repeated returns the key it made, and never its secrets', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  const key = randomUUID();
  const body = { name: 'k', scopes: ['tracking:read'], expires_at: '2999-01-01T00:00:00Z' };
  const first = await once(parent.call, key)(`/${id}/api-keys`, body);
  t.match(first, { status: 201, body: { api_key: /^tgw_/, client_secret: /^tgs_/ } });
  const { api_key: apiKey, client_secret: clientSecret, ...record } = first.body;

  const again = await once(elsewhere(second, parent), key)(`/${id.toUpperCase()}/api-keys`, body);
  t.match(again, {
    status: 201,
    headers: { 'idempotency-replayed': 'true', 'cache-control': 'no-store' },
  });
  t.same(again.body, record);
  t.equal(((await parent.call('GET', `/${id}/api-keys`)).body['data'] as unknown[]).length, 1);

  // Nor are they in the table, in whatever form.
  const [kept] = await sql`select string_agg(i::text, ' ') as text from idempotency i`;
  for (const secret of [apiKey, clientSecret])
    t.notMatch(String(kept?.['text']), String(secret).slice(8, 30));
});

t.test('one key for two different requests is 422, and the second does nothing', async (t) => {
  const parent = await apis.parent();
  const [one, two] = [await parent.create(), await parent.create()];
  const key = randomUUID();
  const call = once(parent.call, key);
  t.equal((await call('', { name: 'A' })).status, 201);
  for (const [path, body] of [
    ['', { name: 'B' }],
    ['', { name: 'A', external_id: 'a' }],
    ['', { name: 'A', external_id: null }],
    [`/${one.id}/deactivate`, undefined],
    [`/${one.id}/api-keys`, { name: 'A' }],
  ] as const) {
    t.match(await call(path, body), { status: 422, body: { code: 'idempotency_mismatch' } });
  }
  t.equal((await subAccounts(parent)).length, 3);
  const action = once(parent.call);
  t.equal((await action(`/${one.id}/deactivate`)).status, 200);
  t.equal((await action(`/${two.id}/deactivate`)).status, 422);
  t.equal((await action(`/${one.id}/reactivate`)).status, 422);
  t.match((await parent.call('GET', '')).body['data'], [{}, { status: 'active' }, { status: 'deactivated' }]);
});

t.test('another caller’s same key is another request, that of another key of the parent too', async (t) => {
  const [parent, stranger] = [await apis.parent(), await apis.parent()];
  const minted = await apis.operator('POST', `/accounts/${parent.id}/api-keys`, {
    body: { name: 'other', scopes: ['sub_accounts:write'] },
  });
  const key = randomUUID();
  const responses = [
    await once(parent.call, key)('', { name: 'A' }),
    await once(stranger.call, key)('', { name: 'A' }),
    await apis.call('POST', '/v1/sub-accounts', {
      key: String(minted.body['api_key']),
      headers: { 'Idempotency-Key': key },
      body: { name: 'B' },
    }),
  ];
  for (const response of responses) {
    t.equal(response.status, 201);
    t.equal(response.headers['idempotency-replayed'], undefined);
  }
  t.equal(new Set(responses.map(({ body }) => body['id'])).size, 3);
});

t.test('after 24 hours a key is free again, and long expired ones go away by themselves', async (t) => {
  const parent = await apis.parent();
  const key = randomUUID();
  await once(parent.call, key)('', { name: 'A' });
  const age = (by: string) => sql`update idempotency set at = at - ${by}::interval`;
  await age('23 hours');
  t.equal((await once(parent.call, key)('', { name: 'B' })).status, 422);
  await age('1 hour');
  const again = await once(parent.call, key)('', { name: 'B' });
  t.equal(again.status, 201);
  t.equal(again.headers['idempotency-replayed'], undefined);
  t.equal((await once(parent.call, key)('', { name: 'A' })).status, 422, 'it stands for the new one now');

  await age('26 hours');
  await sql`insert into idempotency (caller_key_id, key, fingerprint, at)
    select gen_random_uuid(), decode(md5(i::text) || md5(i::text), 'hex'), decode(repeat('00', 32), 'hex'),
      now() - interval '3 days' from generate_series(1, 50) i`;
  const rows = async () => Number((await sql`select count(*) as n from idempotency`)[0]?.['n']);
  const before = await rows();
  await once(parent.call)('', { name: 'C' });
  const after = await rows();
  t.equal(after, before + 1 - 20, 'a bounded number with each new one');
  for (let i = 0; i < 8; i++) await once(parent.call)('', { name: 'C' });
  t.equal(await rows(), 9, 'until there are only live ones');
});

t.test('a key grants nothing: it is read after the caller has been authenticated and checked', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  const key = randomUUID();
  const mint = once(parent.call, key);
  t.equal((await mint(`/${id}/api-keys`, { name: 'k' })).status, 201);
  await apis.operator('POST', `/accounts/${parent.id}/suspend`);
  t.match(await mint(`/${id}/api-keys`, { name: 'k' }), { status: 403, body: { code: 'account_suspended' } });
});

t.test('the operator’s requests may be sent again, too', async (t) => {
  const operator = once(apis.operator);
  const first = await operator('/accounts', { name: 'Once' });
  t.equal(first.status, 201);
  const again = await operator('/accounts', { name: 'Once' });
  t.match(again, { status: 201, headers: { 'idempotency-replayed': 'true' } });
  t.equal(again.text, first.text);
  t.equal((await operator('/accounts', { name: 'Twice' })).status, 422);

  const path = `/accounts/${String(first.body['id'])}`;
  const mint = once(apis.operator);
  const {
    api_key: _key,
    client_secret: _secret,
    ...record
  } = (await mint(`${path}/api-keys`, { name: 'k' })).body;
  t.ok(_key && _secret);
  t.same((await mint(`${path}/api-keys`, { name: 'k' })).body, record);
  t.equal((await mint(`${path}/suspend`)).status, 422);
});
