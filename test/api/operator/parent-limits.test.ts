// class: app
/** Limits that a parent has in place of the configuration's. */
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import type { HttpResponse } from '../../support/http-client.ts';

const apis = await startApis(t, { limits: { subAccountsPerParent: 1, keysPerAccount: 2 } });
const patch = (id: string, body: object): Promise<HttpResponse> =>
  apis.operator('PATCH', `/accounts/${id}`, { body });

t.test('an operator sets them; null goes back to the configuration', async (t) => {
  const { id } = await apis.parent();
  t.match(await apis.operator('GET', `/accounts/${id}`), {
    body: { max_sub_accounts: null, max_api_keys: null },
  });
  t.match(await patch(id, { max_sub_accounts: 2 }), {
    status: 200,
    body: { max_sub_accounts: 2, max_api_keys: null },
  });
  t.match(await patch(id, { max_api_keys: 0, name: 'New' }), {
    status: 200,
    body: { name: 'New', max_sub_accounts: 2, max_api_keys: 0 },
  });
  t.match(await patch(id, { max_sub_accounts: null, max_api_keys: null }), {
    body: { max_sub_accounts: null, max_api_keys: null },
  });
  for (const wrong of [-1, 1.5, '3', 100_000_001])
    t.match(await patch(id, { max_sub_accounts: wrong }), {
      status: 400,
      body: { errors: [{ pointer: '/max_sub_accounts' }] },
    });
});

t.test('they hold for what the parent creates, and the 409 says what they are', async (t) => {
  const parent = await apis.parent();
  await patch(parent.id, { max_sub_accounts: 0 });
  t.match(await parent.call('POST', '', { body: { name: 'N' } }), {
    status: 409,
    body: { code: 'limit_reached', detail: 'At most 0 sub-accounts are allowed.' },
  });
  await patch(parent.id, { max_sub_accounts: 1, max_api_keys: 1 });
  const sub = await parent.create();
  const mint = (): Promise<HttpResponse> =>
    parent.call('POST', `/${sub.id}/api-keys`, { body: { name: 'N' } });
  t.match(await mint(), { status: 201 });
  t.match(await mint(), { status: 409, body: { detail: 'At most 1 API keys are allowed.' } });
  const keys = [{ api_key: 'a key that was made elsewhere'.replaceAll(' ', '-'), name: 'N' }];
  t.match(await apis.operator('POST', `/accounts/${parent.id}/api-keys/import`, { body: { keys } }), {
    status: 409,
    body: { detail: 'An account may have at most 1 API keys, so none was imported.' },
  });
});
