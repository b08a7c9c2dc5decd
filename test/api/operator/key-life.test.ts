// class: app
/** What operators do with any key: another name, another expiry, another key in its place. */
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { mint } from '../../support/minted-keys.ts';

const apis = await startApis(t);
const future = '2999-01-01T00:00:00.000Z';

/** What is said to a key of a sub-account on a management path: 403 where it is good. */
async function codeOf(key: string): Promise<unknown> {
  return (await apis.call('GET', '/v1/sub-accounts', { key })).body['code'];
}

t.test('an operator changes and rotates any key, by its id or below its parent', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  const key = await mint(parent, child);
  t.match(
    await apis.operator('PATCH', `/api-keys/${key.id}`, { body: { name: 'Named', expires_at: future } }),
    {
      status: 200,
      headers: { 'x-service-enforced': /^replicas=/ },
      body: { name: 'Named', expires_at: future, account: { id: child.id }, parent: { id: parent.id } },
    },
  );
  const rotated = await apis.operator('POST', `/api-keys/${key.id}/rotate`, { body: { expires_in: 0 } });
  t.match(rotated, {
    status: 201,
    headers: { 'cache-control': 'no-store' },
    body: { name: 'Named', account: { id: child.id }, parent: { id: parent.id }, rotated_from: key.id },
  });
  t.equal(await codeOf(key.apiKey), 'api_key_revoked');
  t.equal(await codeOf(String(rotated.body['api_key'])), 'parent_key_required');

  const own = `/accounts/${parent.id}/api-keys/${parent.keyId}`;
  t.match(await apis.operator('PATCH', own, { body: { name: 'Own' } }), {
    status: 200,
    body: { name: 'Own' },
  });
  const newest = await apis.operator('POST', `${own}/rotate`, { body: { expires_in: 0 } });
  t.match(newest, {
    status: 201,
    body: { account_id: parent.id, scopes: ['sub_accounts:read', 'sub_accounts:write'] },
  });
  t.match(await parent.call('GET', ''), { status: 401, body: { code: 'api_key_revoked' } });
  t.equal((await apis.call('GET', '/v1/sub-accounts', { key: String(newest.body['api_key']) })).status, 200);
  for (const id of [parent.id, 'nonsense'])
    t.equal((await apis.operator('POST', `/api-keys/${id}/rotate`, { body: { expires_in: 0 } })).status, 404);
});
