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
  const values = [undefined, 'self', 'ext:a', 'ext:b', 'ext:none', active.id, deactivated.id, parent.id, ''];
  const paths = [
    '/v1/shipments?a=1',
    '/v1/sub-accounts',
    `/v1/sub-accounts/${active.id}`,
    '/a/../b',
    '/v1//x',
  ];
  const seen = new Set<unknown>();
  for (const { key, keyId, call } of [parent, narrow]) {
    for (const value of values) {
      for (const path of paths) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          const what = `${method} ${path} acting ${value}`;
          const told = (await call('GET', acting(method, path, value))).body;
          const headers = value === undefined ? [] : [['X-Service-Acting-Tenant', value] as const];
          const real = await replicas.call(method, path, { key, headers });
          const resolved = real.headers['x-service-resolved-tenant'];
          if (told['decision'] === 'permit') {
            t.match(told, { resolved_tenant: resolved, problem: null }, what);
            t.match(
              real.body['code'] ?? 'invalid_request',
              /^(invalid_request|unsupported_media_type|still_active)$/,
              what,
            );
          } else {
            const { instance: _path, request_id: _id, ...problem } = real.body;
            t.same(
              told,
              { decision: 'refuse', resolved_tenant: null, reason: problem['code'], problem },
              what,
            );
          }
          seen.add(told['reason']);
          const body = { key_id: keyId, method, path, ...(value !== undefined && { acting_tenant: value }) };
          t.match((await replicas.operator('POST', '/explain', { body })).body, told, what);
        }
      }
    }
  }
  const reasons = [
    'self-by-default',
    'self',
    'sub-account',
    'acting_tenant_required',
    'acting_tenant_unknown',
  ];
  for (const reason of reasons) t.ok(seen.has(reason), reason);
  for (const code of ['insufficient_scope', 'invalid_target', 'method_not_allowed'])
    t.ok(seen.has(code), code);
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

t.test('it takes sub_accounts:read and a parent’s key', async (t) => {
  const apis = await startApis(t);
  const writer = await apis.parent(['sub_accounts:write']);
  for (const path of ['/acting?path=/', '/onboarding']) {
    t.match(await writer.call('GET', path), { status: 403, body: { code: 'insufficient_scope' } });
    const key = await (await writer.create()).mint();
    const code = 'parent_key_required';
    t.match(await apis.call('GET', `/v1/sub-accounts${path}`, { key }), { status: 403, body: { code } });
  }
});
