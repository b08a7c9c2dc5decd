// class: app
/** Many rows in one call of the operator. What becomes of each is held by `test/e2e/cli/import.test.ts`. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import type { HttpResponse } from '../../support/http-client.ts';

const apis = await startApis(t);
const post = (path: string, body: object): Promise<HttpResponse> =>
  apis.operator('POST', `${path}/import`, { body });

t.test('rows name their parent by either id, and wait until they are enforced', async (t) => {
  const id = randomUUID();
  const accounts = [{ external_id: 'cus/1', id: id.toUpperCase(), name: 'One' }];
  t.match(await post('/accounts', { accounts }), {
    status: 200,
    body: { created: 1, data: [{ outcome: 'created', id, code: null }] },
  });
  const headers = { 'x-service-enforced': /^replicas=/ };
  const sub_accounts = [
    { account_external_id: 'cus/1', external_id: 'ada', name: 'Ada' },
    { account_id: id, external_id: 'ben', name: 'Ben' },
  ];
  t.match(await post('/sub-accounts', { sub_accounts }), { status: 200, headers, body: { created: 2 } });
  const keys = [
    { account_id: id, sub_account_external_id: 'ada', sha256: 'a'.repeat(64), name: 'Ada' },
    { account_external_id: 'cus/1', sub_account_external_id: 'eve', sha256: 'b'.repeat(64), name: 'Eve' },
  ];
  t.match(await post('/api-keys', { keys }), {
    ...{ status: 200, headers },
    body: { created: 1, rejected: 1, data: [{}, { code: 'not_found', detail: /no such sub-account/ }] },
  });
});

t.test('what is wrong with rows is said at once, and nothing is done', async (t) => {
  const pointers = ({ status, body }: HttpResponse): unknown => [
    status,
    (body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer),
  ];
  const accounts = [
    { external_id: 'never', name: 'Fine' },
    { external_id: 'with space', name: '', limits: {} },
    { external_id: 'never', id: 'no uuid', name: 'Twice' },
    { name: 'None', metadata: { k: 1 } },
  ];
  t.same(pointers(await post('/accounts', { accounts })), [
    400,
    [
      ...['/accounts/1/external_id', '/accounts/1/limits', '/accounts/1/name', '/accounts/2/external_id'],
      ...['/accounts/2/id', '/accounts/3/external_id', '/accounts/3/metadata/k'],
    ],
  ]);
  t.same((await apis.operator('GET', '/accounts?external_id=never')).body['data'], []);
  const both = { account_external_id: 'a', account_id: randomUUID() };
  const sub_accounts = [
    { external_id: 'x', name: 'N' },
    { ...both, external_id: 'x', name: 'N' },
    { account_id: 'x', external_id: 'x', name: 'N' },
    { account_external_id: 'a', external_id: 'x', name: 'N' },
    { account_external_id: 'a', external_id: 'x', name: 'N' },
    { account_external_id: 'b', external_id: 'x', name: 'N' },
  ];
  t.same(pointers(await post('/sub-accounts', { sub_accounts })), [
    400,
    [
      ...['/sub_accounts/0', '/sub_accounts/1/account_id', '/sub_accounts/2/account_id'],
      '/sub_accounts/4/external_id',
    ],
  ]);
  const key = { account_external_id: 'a', name: 'N' };
  const keys = [
    key,
    { ...key, api_key: 'a_key_of_mine_0001', expires_at: '2001-01-01T00:00:00Z' },
    { ...key, sub_account_external_id: 's', api_key: 'a_key_of_mine_0002', scopes: ['sub_accounts:read'] },
    { ...key, api_key: 'tgw_mistyped_mistyped_mistyped_mistyped' },
    { ...key, api_key: 'a_key_of_mine_0001' },
  ];
  t.same(pointers(await post('/api-keys', { keys })), [
    400,
    ['/keys/0', '/keys/1/expires_at', '/keys/2/scopes/0', '/keys/3/api_key', '/keys/4/api_key'],
  ]);
  const many = Array.from({ length: 1001 }, (_, i) => ({ external_id: `m${i}`, name: 'N' }));
  t.match(pointers(await post('/accounts', { accounts: many })), [400, ['/accounts']]);
  t.match(await post('/accounts', {}), { status: 400 });
  t.match(await apis.operator('GET', '/accounts/import'), { status: 405 });
});
