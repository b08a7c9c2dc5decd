// class: app
/** What an event says: who changed what, by which request, from where, before and after. */
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { seenBy } from '../../support/events/shown.ts';

const apis = await startApis(t, { trustedProxies: ['127.0.0.0/8', '::1'] });

t.test('an event says who, by which request, from where, what it is now and what it was', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create({ name: 'Before', external_id: 'one', metadata: { a: '1', b: '2' } });
  const headers = { 'x-request-id': 'the-request', 'x-forwarded-for': '203.0.113.9, 192.0.2.7' };
  const changed = await parent.call('PATCH', `/${id}`, {
    headers,
    body: { name: 'After', metadata: { b: null } },
  });
  t.equal(changed.headers['x-request-id'], 'the-request');
  const [event] = (await seenBy(parent)).slice(-1);
  t.match(event, {
    id: /^[0-9a-f]{8}-[0-9a-f]{4}-7/,
    type: 'sub_account.updated',
    account_id: parent.id,
    sub_account_id: id,
    actor: { kind: 'api_key', key_id: parent.keyId, name: 'key' },
    request_id: 'the-request',
    address: '192.0.2.7',
  });
  t.same(event?.data, {
    object: changed.body,
    previous: { name: 'Before', metadata: { a: '1', b: '2' } },
  });
  t.same((await parent.call('GET', `/events/${event?.id.toUpperCase() ?? ''}`)).body, event);
  t.same((await apis.operator('GET', `/events/${event?.id ?? ''}`)).body, event);

  await parent.call('POST', `/${id}/deactivate`);
  t.match((await seenBy(parent)).at(-1)?.data, {
    object: { status: 'deactivated', deactivated_at: /Z$/ },
    previous: { status: 'active', deactivated_at: null },
  });
  const minted = await parent.call('POST', `/${id}/api-keys`, { body: { name: 'k', scopes: ['a:b'] } });
  const { api_key: _key, client_secret: _secret, ...shown } = minted.body;
  t.same((await seenBy(parent)).at(-1)?.data, { object: shown, previous: null });
  const revoked = await parent.call('POST', `/${id}/api-keys/${String(shown['id'])}/revoke`);
  t.same((await seenBy(parent)).at(-1)?.data, {
    object: revoked.body,
    previous: { status: 'active', revoked_at: null },
  });
});

t.test('a rotation is one event, of the new key, whatever becomes of the old one', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  for (const expiresIn of [0, 60]) {
    const minted = await parent.call('POST', `/${id}/api-keys`, { body: { name: 'k' } });
    const before = (await seenBy(parent)).length;
    const old = String(minted.body['id']);
    const headers = { 'idempotency-key': `rotation-${old}` };
    const rotate = () =>
      parent.call('POST', `/${id}/api-keys/${old}/rotate`, { headers, body: { expires_in: expiresIn } });
    const rotated = await rotate();
    t.equal(rotated.status, 201);
    t.equal((await rotate()).headers['idempotency-replayed'], 'true');
    const { api_key: _key, client_secret: _secret, ...shown } = rotated.body;
    const left = (await seenBy(parent)).slice(before);
    t.match(left, [{ type: 'api_key.rotated', sub_account_id: id, actor: { key_id: parent.keyId } }]);
    t.equal(left.length, 1);
    t.same(left[0]?.data, { object: shown, previous: { id: old } });
  }
});
