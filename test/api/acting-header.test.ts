// class: app
import t from 'tap';
import { startApis } from '../support/apis.ts';

const name = 'X-Service-Acting-Tenant';

t.test('with require_acting_header, rule 1 holds on management to the letter', async (t) => {
  const apis = await startApis(t, { requireActingHeader: true });
  const parent = await apis.parent();
  const write = (headers?: Record<string, string>) =>
    parent.call('POST', '', { body: { name: 'Child' }, ...(headers && { headers }) });

  const first = await write();
  t.equal(first.status, 201, 'no active sub-account yet, so nothing is required');
  t.match(await write(), { status: 400, body: { code: 'acting_tenant_required' } });
  t.equal((await write({ [name]: 'self' })).status, 201);
  t.equal((await parent.call('GET', '')).status, 200, 'reads never require it');
});
