// class: app
import { createHash } from 'node:crypto';
import t from 'tap';
import { startApis } from '../../support/apis.ts';

const apis = await startApis(t);

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

t.test('any key is found, shown and revoked, and no response has a secret', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create({ name: 'Ada', external_id: 'ada' });
  const secret = await child.mint(['orders:read']);
  const [prefix, last4] = [secret.slice(0, 8), secret.slice(-4)];

  const found = await apis.operator('GET', `/api-keys?prefix=${prefix}&last4=${last4}`);
  t.match(found, {
    status: 200,
    body: {
      data: [
        {
          account_id: child.id,
          name: 'key',
          scopes: ['orders:read'],
          prefix,
          last4,
          status: 'active',
          account: { id: child.id, name: 'Ada', status: 'active', external_id: 'ada' },
          parent: { id: parent.id, name: 'Parent', status: 'active' },
        },
      ],
      has_more: false,
      next_cursor: null,
    },
  });
  const [key] = found.body['data'] as { id: string }[];
  const id = key?.id ?? '';
  t.same((await apis.operator('GET', `/api-keys?sha256=${sha256(secret)}`)).body['data'], [key]);
  t.same((await apis.operator('GET', `/api-keys?account_id=${child.id.toUpperCase()}`)).body['data'], [key]);
  const shown = await apis.operator('GET', `/api-keys/${id}`);
  t.same(shown.body, key);

  const before = apis.waitedFor.length;
  const revoked = await apis.operator('POST', `/api-keys/${id.toUpperCase()}/revoke`);
  t.match(revoked, {
    status: 200,
    headers: { 'x-service-enforced': /^replicas=/ },
    body: { id, status: 'revoked', parent: { id: parent.id } },
  });
  t.ok(apis.waitedFor.length > before, 'it gets its response once it is enforced');
  t.equal((await apis.operator('POST', `/api-keys/${id}/revoke`)).status, 200, 'again is no fault');
  t.same((await apis.operator('GET', `/api-keys?account_id=${child.id}&status=active`)).body['data'], []);
  t.match((await apis.operator('GET', `/api-keys?account_id=${child.id}&status=revoked`)).body['data'], [
    { id },
  ]);
  for (const { text } of [found, shown, revoked])
    t.notOk(text.includes(secret) || text.includes(sha256(secret)));

  const parents = await apis.operator('GET', `/api-keys?sha256=${sha256(parent.key)}`);
  t.match(parents.body['data'], [{ account_id: parent.id, parent: null }]);
});

t.test('what cannot be a key, or is none, is said', async (t) => {
  const parent = await apis.parent();
  for (const [query, pointer] of [
    ['sha256=abc', '?sha256'],
    [`sha256=${sha256('x').toUpperCase()}`, '?sha256'],
    ['account_id=x', '?account_id'],
    ['status=lost', '?status'],
    ['last4=12345', '?last4'],
    ['api_key=x', '?api_key'],
    ['cursor=x', '?cursor'],
  ] as const)
    t.match(
      await apis.operator('GET', `/api-keys?${query}`),
      { status: 400, body: { code: 'invalid_request', errors: [{ pointer }] } },
      query,
    );
  t.same((await apis.operator('GET', `/api-keys?sha256=${sha256('x')}`)).body['data'], []);
  for (const id of ['x', crypto.randomUUID(), parent.id]) {
    t.equal((await apis.operator('GET', `/api-keys/${id}`)).status, 404);
    t.equal((await apis.operator('POST', `/api-keys/${id}/revoke`)).status, 404);
  }
  t.equal(
    (await apis.operator('GET', '/api-keys', { key: parent.key })).status,
    401,
    'it is the operator who may',
  );
});

t.test('keys are listed in pages, and a cursor is good for its filters alone', async (t) => {
  const child = await (await apis.parent()).create();
  for (let i = 0; i < 3; i++) await child.mint();
  const list = (query: string) => apis.operator('GET', `/api-keys?${query}`);
  const whole = (await list(`account_id=${child.id}`)).body['data'] as object[];
  const { body } = await list(`account_id=${child.id}&limit=2`);
  const cursor = `cursor=${String(body['next_cursor'])}`;
  t.match(body, { data: whole.slice(0, 2), has_more: true });
  t.match((await list(`account_id=${child.id}&${cursor}`)).body, { data: whole.slice(2), has_more: false });
  t.equal((await list(cursor)).status, 400, 'the cursor of another list');
});
