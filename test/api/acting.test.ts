// class: app
/** What would become of a request, asked by the parent whose key it would carry. */
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { startReplicas } from '../support/replicas.ts';

const acting = (method: string, path: string, value?: string): string => {
  const query = new URLSearchParams({ method, path });
  if (value !== undefined) query.set('acting_tenant', value);
  return `/acting?${query.toString()}`;
};

t.test('what it says is what happens, to operators and parents alike', async (t) => {
  const replicas = await startReplicas(t, 'route_defaults: { scopes: { write: "tracking:write" } }\n');
  const parent = await replicas.parent(['sub_accounts:read', 'sub_accounts:write', 'tracking:write']);
  const narrow = await replicas.parent(['sub_accounts:read']);
  const active = await parent.create({ name: 'A', external_id: 'a' });
  const deactivated = await parent.create({ name: 'B', external_id: 'b' });
  await deactivated.act('deactivate');
  for (const [{ keyId, key, call }, method, path, value, reason] of [
    [parent, 'GET', '/v1/shipments?a=1', undefined, 'self-by-default'],
    [parent, 'DELETE', '/v1/shipments', 'ext:a', 'sub-account'],
    [parent, 'GET', '/v1/sub-accounts', parent.id, 'self'],
    [parent, 'POST', '/v1/shipments', undefined, 'acting_tenant_required'],
    [parent, 'GET', '/v1/shipments', 'ext:none', 'acting_tenant_unknown'],
    [parent, 'GET', '/v1/shipments', deactivated.id, 'acting_tenant_deactivated'],
    [parent, 'GET', '/v1/shipments', '', 'invalid_acting_tenant'],
    [narrow, 'POST', '/v1/shipments', 'self', 'insufficient_scope'],
    [narrow, 'POST', '/v1/sub-accounts', undefined, 'insufficient_scope'],
    [parent, 'GET', '/a/../b', undefined, 'invalid_target'],
    [parent, 'POST', `/v1/sub-accounts/${active.id}`, 'self', 'method_not_allowed'],
  ] as const) {
    const what = `${method} ${path} acting ${value}`;
    const told = (await call('GET', acting(method, path, value))).body;
    t.equal(told['reason'], reason, what);
    const body = { key_id: keyId, method, path, ...(value !== undefined && { acting_tenant: value }) };
    t.match((await replicas.operator('POST', '/explain', { body })).body, told, what);
    const headers = value === undefined ? [] : [['X-Service-Acting-Tenant', value] as const];
    const real = await replicas.call(method, path, { key, headers });
    const resolved = real.headers['x-service-resolved-tenant'];
    const { instance: _path, request_id: _id, ...problem } = real.body;
    if (told['decision'] === 'permit') t.match(told, { resolved_tenant: resolved, problem: null }, what);
    else t.same(told, { decision: 'refuse', resolved_tenant: null, reason: problem['code'], problem }, what);
  }
});

t.test('the method is GET unless it is said, and a path has to be', async (t) => {
  const { call } = await (await startApis(t)).parent(['sub_accounts:read']);
  t.match(await call('GET', '/acting?path=/v1/sub-accounts/caller'), {
    status: 200,
    body: { decision: 'permit', reason: 'self-by-default' },
  });
  t.match((await call('GET', '/acting?path=/elsewhere')).body, {
    decision: 'refuse',
    problem: { type: 'urn:tenancy-gateway:problem:not_found', status: 404 },
  });
  for (const [query, pointer] of [
    ['', '?path'],
    ['path=x', '?path'],
    ['path=/&method=TRACE', '?method'],
    ['path=/&method=get', '?method'],
    ['path=/&key=x', '?key'],
  ] as const)
    t.match(await call('GET', `/acting?${query}`), { status: 400, body: { errors: [{ pointer }] } }, query);
});
