// class: app
/** Every change leaves an event: who changed what, by which request, from where, before and after. */
import { createHash } from 'node:crypto';
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { eventsOf, seenBy } from '../../support/events/shown.ts';
import type { Call } from '../../support/http-client.ts';

const apis = await startApis(t, { trustedProxies: ['127.0.0.0/8', '::1'] });

t.test('every write of both APIs leaves one event, and sent again none', async (t) => {
  const parent = await apis.parent();
  const { call } = parent;
  const at = `/accounts/${parent.id}`;
  const created = await call('POST', '', { body: { name: 'One', external_id: 'one' } });
  const sub = String(created.body['id']);
  const minted = await call('POST', `/${sub}/api-keys`, { body: { name: 'k' } });
  const key = String(minted.body['id']);
  const operators = await apis.operator('POST', `${at}/api-keys`, { body: { name: 'second' } });
  const second = String(operators.body['id']);
  const theirs = String(
    (await apis.operator('POST', `${at}/sub-accounts`, { body: { name: 'Theirs' } })).body['id'],
  );
  const digest = createHash('sha256').update(`imported by ${parent.id}`).digest('hex');
  t.same(
    (await eventsOf(apis, parent.id)).map(({ type }) => type),
    [
      ...['account.created', 'api_key.created', 'sub_account.created', 'api_key.created'],
      ...['api_key.created', 'sub_account.created'],
    ],
  );

  const writes: readonly [string, () => ReturnType<Call>][] = [
    ['sub_account.updated', () => call('PATCH', `/${sub}`, { body: { name: 'Two', metadata: { a: 'b' } } })],
    ['sub_account.deactivated', () => call('POST', `/${sub}/deactivate`)],
    ['sub_account.reactivated', () => call('POST', `/${sub}/reactivate`)],
    ['sub_account.created', () => call('PUT', '/by-external-id/put', { body: { name: 'Put' } })],
    ['sub_account.updated', () => call('PUT', '/by-external-id/put', { body: { name: 'Put again' } })],
    ['api_key.updated', () => call('PATCH', `/${sub}/api-keys/${key}`, { body: { name: 'renamed' } })],
    ['api_key.updated', () => apis.operator('PATCH', `/api-keys/${second}`, { body: { name: 'renamed' } })],
    ['api_key.revoked', () => call('POST', `/${sub}/api-keys/${key}/revoke`)],
    [
      'account.updated',
      () => apis.operator('PATCH', at, { body: { name: 'Renamed', metadata: { note: 'x' } } }),
    ],
    ['account.suspended', () => apis.operator('POST', `${at}/suspend`)],
    ['account.resumed', () => apis.operator('POST', `${at}/resume`)],
    ['sub_account.deactivated', () => apis.operator('POST', `${at}/sub-accounts/${theirs}/deactivate`)],
    ['sub_account.reactivated', () => apis.operator('POST', `${at}/sub-accounts/${theirs}/reactivate`)],
    [
      'api_key.created',
      () =>
        apis.operator('POST', `${at}/api-keys/import`, { body: { keys: [{ sha256: digest, name: 'i' }] } }),
    ],
    ['api_key.revoked', () => apis.operator('POST', `/api-keys/${second}/revoke`)],
  ];
  for (const [type, write] of writes) {
    const before = await eventsOf(apis, parent.id);
    for (const attempt of ['first', 'second'] as const) {
      t.match(await write(), { status: /^20[01]$/ }, `${type}, ${attempt}`);
      const left = (await eventsOf(apis, parent.id)).slice(before.length);
      t.same(
        left.map((event) => event.type),
        [type],
        `${type}, ${attempt}`,
      );
    }
  }
});

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
