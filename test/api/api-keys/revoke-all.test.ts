// class: app
/** Revoke all keys of an account by one call. */
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { once } from '../../support/idempotent-calls.ts';

const apis = await startApis(t);

/** What is said to a key on a management path: 403 for a good key of a sub-account, 200 for one of a parent. */
async function codeOf(key: string): Promise<unknown> {
  const { status, body } = await apis.call('GET', '/v1/sub-accounts', { key });
  return body['code'] ?? status;
}

t.test('a parent revokes all keys of one sub-account, and each has an event', async (t) => {
  const parent = await apis.parent();
  const [child, other] = [await parent.create(), await parent.create()];
  const keys = [await child.mint(), await child.mint(), await child.mint()];
  const kept = await other.mint();
  const before = apis.waitedFor.length;
  t.match(await parent.call('POST', `/${child.id.toUpperCase()}/api-keys/revoke-all`, { body: {} }), {
    status: 200,
    headers: { 'x-service-enforced': 'replicas=1; ms=0' },
    body: { revoked: 3 },
  });
  t.equal(apis.waitedFor.length, before + 1, 'one position for all of them');
  t.same(await Promise.all(keys.map(codeOf)), Array(3).fill('api_key_revoked'));
  t.same([await codeOf(kept), await codeOf(parent.key)], ['parent_key_required', 200]);
  const { body } = await parent.call('GET', `/events?type=api_key.revoked`);
  const actor = { kind: 'api_key', key_id: parent.keyId, name: 'key' };
  t.match(body['data'], Array(3).fill({ sub_account_id: child.id, actor }));
  t.match(await parent.call('POST', `/${child.id}/api-keys/revoke-all`), {
    status: 200,
    body: { revoked: 0 },
  });
});

t.test('with its Idempotency-Key it is done once', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  await child.mint();
  const revokeAll = once(parent.call);
  t.match((await revokeAll(`/${child.id}/api-keys/revoke-all`)).body, { revoked: 1 });
  const later = await child.mint();
  t.match(await revokeAll(`/${child.id}/api-keys/revoke-all`), {
    body: { revoked: 1 },
    headers: { 'idempotency-replayed': 'true' },
  });
  t.equal(await codeOf(later), 'parent_key_required');
});

t.test('it takes sub_accounts:write, and a sub-account of the caller', async (t) => {
  const [parent, stranger] = [await apis.parent(), await apis.parent()];
  const reader = await apis.parent(['sub_accounts:read']);
  const child = await parent.create();
  const key = await child.mint();
  const path = `/${child.id}/api-keys/revoke-all`;
  t.match(await reader.call('POST', path), { status: 403, body: { code: 'insufficient_scope' } });
  t.match(await apis.call('POST', `/v1/sub-accounts${path}`, { key }), {
    status: 403,
    body: { code: 'parent_key_required' },
  });
  for (const id of [parent.id, stranger.id, 'nonsense', crypto.randomUUID()])
    t.match(await parent.call('POST', `/${id}/api-keys/revoke-all`), {
      status: 404,
      body: { code: 'not_found' },
    });
  t.equal((await stranger.call('POST', path)).status, 404);
  t.match(await parent.call('GET', path), { status: 405, headers: { allow: 'POST' } });
  t.match(await parent.call('POST', path, { body: { keys: [] } }), { status: 400 });
  t.equal(await codeOf(key), 'parent_key_required', 'none of them did anything');
});

t.test('an operator revokes all keys of any account, and of no other', async (t) => {
  const parent = await apis.parent();
  const [child, other] = [await parent.create(), await parent.create()];
  const [ofChild, ofOther] = [await child.mint(), await other.mint()];
  const revokeAll = (id: string) => apis.operator('POST', `/accounts/${id}/api-keys/revoke-all`);
  t.match(await revokeAll(child.id), {
    status: 200,
    headers: { 'x-service-enforced': 'replicas=1; ms=0' },
    body: { revoked: 1 },
  });
  t.same(await Promise.all([ofChild, ofOther, parent.key].map(codeOf)), [
    'api_key_revoked',
    'parent_key_required',
    200,
  ]);
  t.match((await revokeAll(parent.id)).body, { revoked: 1 });
  t.same(await Promise.all([ofOther, parent.key].map(codeOf)), ['parent_key_required', 'api_key_revoked']);
  for (const id of ['nonsense', crypto.randomUUID()])
    t.match(await revokeAll(id), { status: 404, body: { code: 'not_found', detail: /no such account/ } });
});
