// class: app
/** Which account and which key call. */
import t from 'tap';
import { startApis } from '../support/apis.ts';

const apis = await startApis(t);

t.test(
  'a parent’s key is told which account and key it is, and how many sub-accounts are active',
  async (t) => {
    const { body: account } = await apis.operator('POST', '/accounts', {
      body: { name: 'Acme', external_id: 'cus_42', metadata: { plan: 'internal' } },
    });
    const {
      api_key: key,
      client_secret: _secret,
      ...record
    } = (
      await apis.operator('POST', `/accounts/${String(account['id'])}/api-keys`, {
        body: {
          name: 'CI',
          scopes: ['sub_accounts:read', 'sub_accounts:write', 'a:b'],
          expires_at: '2999-01-01T00:00:00Z',
        },
      })
    ).body as Record<string, unknown>;
    const call = (method: string, path: string, body?: object) =>
      apis.call(method, `/v1/sub-accounts${path}`, { key: String(key), ...(body && { body }) });
    const { id, name, external_id, limits, created_at, updated_at } = account;
    const told = {
      account: { id, name, external_id, limits, created_at, updated_at },
      api_key: record,
      limits_in_force: [],
    };
    const first = await call('GET', '/caller');
    t.equal(first.status, 200);
    t.same(first.body, { ...told, active_sub_accounts: 0 }, 'without the operator’s metadata');
    const child = await call('POST', '', { name: 'Child' });
    t.same((await call('GET', '/caller')).body['active_sub_accounts'], 1);
    await call('POST', `/${String(child.body['id'])}/deactivate`);
    t.same((await call('GET', '/caller')).body['active_sub_accounts'], 0);
  },
);
