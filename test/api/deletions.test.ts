// class: app
import t from 'tap';
import { startApis } from '../support/apis.ts';

const apis = await startApis(t);
const unknown = '018f0000-0000-7000-8000-000000000001';

t.test('a parent deletes its deactivated sub-account, and nobody else’s', async (t) => {
  const [parent, other] = [await apis.parent(), await apis.parent()];
  const sub = await parent.create({ name: 'Ada', external_id: 'ada' });
  const key = await sub.mint();
  t.match(await parent.call('DELETE', `/${sub.id}`), { status: 409, body: { code: 'still_active' } });
  await sub.act('deactivate');
  for (const [id, call] of [
    [sub.id, other.call],
    [unknown, parent.call],
    ['not-a-uuid', parent.call],
  ] as const)
    t.match(await call('DELETE', `/${id}`), { status: 404, body: { code: 'not_found' } });
  t.match(await parent.call('DELETE', `/${sub.id}`, { body: { name: 'x' } }), { status: 400 });

  const waited = apis.waitedFor.length;
  const deleted = await parent.call('DELETE', `/${sub.id}`, { body: {} });
  t.match(deleted, { status: 204, text: '', headers: { 'x-service-enforced': /^replicas=1/ } });
  t.equal(apis.waitedFor.length, waited + 1, 'the 204 waits');
  t.match(await apis.call('GET', '/v1/sub-accounts/caller', { key }), {
    status: 401,
    body: { code: 'api_key_revoked' },
  });

  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/api-keys'],
  ] as const)
    t.match(
      await parent.call(method, `/${sub.id}${path}`),
      { status: 404, body: { code: 'not_found' } },
      path,
    );
  t.equal(apis.waitedFor.length, waited + 2, 'the 404 of a repeated deletion waits, too');
  t.same((await parent.call('GET', '?external_id=ada')).body['data'], []);
  const again = await parent.call('PUT', '/by-external-id/ada', { body: { name: 'Ada again' } });
  t.equal(again.status, 201);
  t.not(again.body['id'], sub.id);
});

t.test('an operator deletes a suspended parent with everything under it', async (t) => {
  const parent = await apis.parent();
  const sub = await parent.create({ name: 'Ada' });
  const keys = [parent.key, await sub.mint()];
  const path = `/accounts/${parent.id}`;
  t.match(await apis.operator('GET', `/erasures/${parent.id}`), { status: 404 });
  t.match(await apis.operator('DELETE', path), { status: 409, body: { code: 'still_active' } });
  t.match(await apis.operator('DELETE', `/accounts/${sub.id}`), { status: 404 });
  await apis.operator('POST', `${path}/suspend`);
  t.match(await apis.operator('DELETE', path), { status: 204, text: '' });
  t.match(await apis.operator('DELETE', path), { status: 404, headers: { 'x-service-enforced': undefined } });
  for (const key of keys)
    t.match((await apis.call('GET', '/v1/sub-accounts/caller', { key })).body, { code: 'api_key_revoked' });
  for (const rest of ['', '/sub-accounts', `/sub-accounts/${sub.id}`, '/api-keys'])
    t.match(await apis.operator('GET', path + rest), { status: 404 }, rest);
  t.match(await apis.operator('GET', `/api-keys?account_id=${sub.id}`), { body: { data: [] } });
  t.match(await apis.operator('GET', `/erasures/${sub.id}`), {
    status: 200,
    body: { account_id: parent.id, parent_id: null, status: 'pending', erased_at: null },
  });
  t.match(await apis.operator('GET', '/erasures/not-a-uuid'), { status: 404 });

  while ((await apis.store.erasures.run({ settledMs: 0, most: 100 })) !== null);
  t.match(await apis.operator('GET', `/erasures/${parent.id}`), {
    body: { status: 'done', erased_at: String, accounts: 2, api_keys: 2 },
  });
  const { body } = await apis.operator('GET', `/events?account_id=${parent.id}`);
  t.match(body['data'], [{ type: 'account.deleted', address: null, data: { object: { name: null } } }]);
  t.match(await apis.operator('GET', `/usage?account_id=${parent.id}`), { status: 200 });
  t.match(await apis.operator('GET', `/usage?account_id=${sub.id}`), { status: 404 });
});

t.test('an operator deletes a sub-account of any parent', async (t) => {
  const parent = await apis.parent();
  const sub = await parent.create({ name: 'Ada' });
  const path = `/accounts/${parent.id}/sub-accounts/${sub.id}`;
  t.match(await apis.operator('DELETE', path), { status: 409 });
  await sub.act('deactivate');
  t.match(await apis.operator('DELETE', path), { status: 204 });
  t.match(await apis.operator('GET', path), { status: 404 });
  t.match(await apis.operator('GET', `/erasures/${sub.id}`), { body: { parent_id: parent.id } });
  const { body } = await parent.call('GET', `/events?sub_account_id=${sub.id}`);
  t.match(body['data'], [{ type: 'sub_account.deleted', actor: { kind: 'operator', name: null } }]);
});
