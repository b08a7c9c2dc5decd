// class: app
import t from 'tap';
import { startApis } from '../support/apis.ts';

const name = 'X-Service-Acting-Tenant';

t.test('on management calls the acting header may only repeat that the parent is itself', async (t) => {
  const apis = await startApis(t);
  const parent = await apis.parent();
  const child = await parent.create({ name: 'Child', external_id: 'child' });
  const self = [name, 'self'] as const;
  const rows: [string, readonly (readonly [string, string])[], number, string?][] = [
    ['absent', [], 200],
    ["the parent's own UUID in upper case", [[name, parent.id.toUpperCase()]], 200],
    ['the name in another case', [['x-SERVICE-acting-TENANT', 'self']], 200],
    ['a sub-account', [[name, 'ext:child']], 403, 'acting_tenant_forbidden'],
    ['malformed', [[name, 'child']], 400, 'invalid_acting_tenant'],
    ['repeated', [self, self], 400, 'invalid_acting_tenant'],
  ];
  for (const [what, headers, status, code] of rows) {
    for (const [method, path, options] of [
      ['GET', '', {}],
      ['PATCH', `/${child.id}`, { body: { name: 'Renamed' } }],
    ] as const) {
      const response = await parent.call(method, path, { ...options, headers });
      t.equal(response.status, status, `${method}: ${what}`);
      t.equal(response.body['code'], code, `${method}: ${what}`);
    }
  }
});

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
