// class: app
import { createHash, randomUUID } from 'node:crypto';
import t from 'tap';
import { startApis } from '../../support/apis.ts';

const apis = await startApis(t, { apiKeyHeaders: ['X-API-Key'] });

function importTo(id: string, keys: unknown, of = apis) {
  return of.operator('POST', `/accounts/${id}/api-keys/import`, { body: { keys } });
}

const newKey = (): string => `acme_live_${randomUUID()}`;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

t.test(
  'imported keys work, for the account they were imported for, and are listed like others',
  async (t) => {
    const parent = await apis.parent();
    const child = await parent.create();
    const [first, second, third] = [newKey(), newKey(), newKey()];
    t.match(await apis.call('GET', '/v1/sub-accounts', { key: first }), { status: 401 });
    const waitedBefore = apis.waitedFor.length;
    const scopes = ['sub_accounts:read'];
    const response = await importTo(parent.id, [
      { api_key: first, name: 'By value', scopes },
      {
        sha256: sha256(second),
        name: 'By digest',
        scopes,
        prefix: 'acme_live_',
        last4: second.slice(-4),
      },
      { api_key: third, name: 'Of a sub-account', sub_account_id: child.id, expires_at: '2999-01-01' },
    ]);
    t.match(response, {
      status: 200,
      headers: { 'x-service-enforced': /^replicas=1/ },
      body: {
        imported: 3,
        existing: 0,
        data: [
          { account_id: parent.id, name: 'By value', scopes, prefix: 'acme_li', last4: first.slice(-4) },
          { account_id: parent.id, name: 'By digest', prefix: 'acme_live_', last4: second.slice(-4) },
          { account_id: parent.id, sub_account_id: child.id, expires_at: '2999-01-01T00:00:00.000Z' },
        ],
      },
    });
    t.notMatch(response.text, first);
    t.equal(apis.waitedFor.length, waitedBefore + 1);
    for (const key of [first, second])
      t.match(await apis.call('GET', '/v1/sub-accounts', { key }), { status: 200 });
    t.match(await apis.call('GET', '/v1/sub-accounts', { headers: { 'X-API-Key': first } }), {
      status: 200,
    });
    t.match(await apis.call('GET', '/v1/sub-accounts', { key: third }), {
      body: { code: 'parent_key_required' },
    });
    const listed = await parent.call('GET', `/${child.id}/api-keys`);
    t.match(listed.body, {
      data: [{ name: 'Of a sub-account', sub_account_id: child.id, status: 'active' }],
    });

    const again = await importTo(parent.id, [{ sha256: sha256(first), name: 'Other name' }]);
    t.match(again.body, { imported: 0, existing: 1, data: [{ name: 'By value' }] });
    const stranger = await apis.parent();
    const taken = await importTo(stranger.id, [
      { api_key: newKey(), name: 'n' },
      { api_key: first, name: 'n' },
    ]);
    t.match(taken, {
      status: 409,
      body: { code: 'api_key_taken', errors: [{ pointer: '/keys/1' }] },
    });
  },
);

t.test('a thousand keys fit into one call, a body of 8 MiB too, and no more', async (t) => {
  const parent = await apis.parent();
  const scopes = Array.from({ length: 50 }, (_, i) => `${'s'.repeat(97)}:${i}`.slice(-100));
  const key = () => ({ sha256: sha256(newKey()), name: 'n'.repeat(256), scopes });
  const keys = Array.from({ length: 1_000 }, key);
  const body = JSON.stringify({ keys });
  t.ok(body.length > 5 * 1024 * 1024, String(body.length));
  const roomy = await startApis(t, { limits: { keysPerAccount: 10_000, managementBodyBytes: 1024 } });
  const owner = await roomy.parent();
  t.match((await importTo(owner.id, keys, roomy)).body, { imported: 1_000, data: { length: 1_000 } });
  t.match(await importTo(owner.id, [...keys, key()], roomy), {
    status: 400,
    body: { errors: [{ pointer: '/keys', detail: /1000 or fewer/ }] },
  });
  const tooLong = await roomy.operator('POST', `/accounts/${owner.id}/api-keys/import`, {
    body: { keys: [{ api_key: 'x'.repeat(8 * 1024 * 1024), name: 'n' }] },
  });
  t.match(tooLong, { status: 413, body: { code: 'payload_too_large' } });
  t.match(await roomy.operator('POST', '/accounts', { body: { name: 'n'.repeat(1_024) } }), { status: 413 });
  t.match(await importTo(parent.id, keys), { status: 409, body: { code: 'limit_reached' } });
  const { data } = (await apis.operator('GET', `/accounts/${parent.id}/api-keys`)).body;
  t.match(data, { length: 1 }, 'the key it had');
});

t.test('what is wrong is said at once, and nothing is imported', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  const good = newKey();
  const response = await importTo(parent.id, [
    { api_key: good, name: 'Good' },
    { api_key: 'too short', name: '' },
    { api_key: newKey(), name: 'n', sub_account_id: child.id, scopes: ['sub_accounts:write'] },
    { name: 'Nothing' },
  ]);
  t.match(response, { status: 400, body: { code: 'invalid_request' } });
  t.same((response.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer).sort(), [
    '/keys/1/api_key',
    '/keys/1/name',
    '/keys/2/scopes/0',
    '/keys/3',
  ]);
  t.match(await apis.call('GET', '/v1/sub-accounts', { key: good }), { status: 401 });
  t.match(await importTo(parent.id, []), { status: 400 });
  const stranger = await (await apis.parent()).create();
  t.match(await importTo(parent.id, [{ api_key: good, name: 'n', sub_account_id: stranger.id }]), {
    status: 400,
    body: { errors: [{ pointer: '/keys/0/sub_account_id' }] },
  });
});
