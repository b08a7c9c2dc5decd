// class: app
import t from 'tap';
import { startReplicas } from '../support/replicas.ts';

// What an upstream sees, and what comes back (decisions on trusted headers), through whole gateways.

const forged = [
  'X-Service-Resolved-Tenant',
  'X-Service-Resolved-External-Id',
  'x_service_parent_tenant',
  'X-Service-Parent-External-Id',
  'x-service-caller-tenant',
  'X_Service_Resolved_Tenant',
  'X.Service.Caller.Key',
  'x-service-anything-at-all',
  'X-Service_Caller-Scopes',
];

t.test('what an upstream sees', async (t) => {
  const { call, internal, last, parent: newParent } = await startReplicas(t, '', 'Token');
  const parent = await newParent();

  t.test('identity comes from the gateway alone, under its own names', async (t) => {
    const headers = forged.map((name) => [name, 'forged'] as const);
    t.equal((await call('GET', '/x', { key: parent.key, headers })).status, 200);
    const { rawHeaders } = last();
    t.notOk(rawHeaders.includes('forged'));
    const own = rawHeaders.filter((name, i) => i % 2 === 0 && /^x.service/i.test(name));
    t.same(own.map((name) => name.toLowerCase()).sort(), [
      'x-service-caller-key',
      'x-service-caller-scopes',
      'x-service-caller-tenant',
      'x-service-parent-tenant',
      'x-service-resolved-tenant',
    ]);
  });

  t.test('path, query, other headers and body arrive byte for byte, Host is preserved', async (t) => {
    const path = '/a%2Fb/%C3%A9?q=%20+&q=2&[]=%5B';
    const body = Buffer.from([0, 255, 254, 10, 13, 0xc3]);
    const headers = { Host: 'api.example.com', 'X-Custom': 'Kept;as="it is"', 'Content-Type': 'text/plain' };
    t.equal((await call('POST', path, { key: parent.key, headers, body })).status, 200);
    const received = last();
    t.equal(received.target, path);
    t.same(received.body, body);
    t.same(received.values('host'), ['api.example.com']);
    t.same(received.values('x-custom'), ['Kept;as="it is"']);
  });

  t.test(
    'Authorization is not passed on; forwarding headers and request ids are the gateway’s',
    async (t) => {
      const forwarded = { 'X-Forwarded-For': '6.6.6.6', 'X-Forwarded-Proto': 'https' };
      const headers = { ...forwarded, 'X-Request-Id': 'mine', Host: 'h' };
      const response = await call('GET', '/x', { key: parent.key, headers });
      const id = response.headers['x-request-id'];
      t.not(id, 'mine');
      for (const [name, values] of Object.entries({
        authorization: [],
        'x-forwarded-for': ['127.0.0.1'],
        'x-forwarded-proto': ['http'],
        'x-forwarded-host': ['h'],
        'x-request-id': [String(id)],
      }))
        t.same(last().values(name), values, name);
    },
  );

  t.test('every response carries X-Request-Id and, once resolved, X-Service-Resolved-Tenant', async (t) => {
    const resolved = await call('GET', '/x', { key: parent.key });
    t.equal(resolved.headers['x-service-resolved-tenant'], parent.id);
    const rejected = await call('GET', '/x');
    t.match(rejected.headers['x-request-id'], /^[0-9a-f]{32}$/);
    t.equal(rejected.body['request_id'], rejected.headers['x-request-id']);
    t.notOk('x-service-resolved-tenant' in rejected.headers);
  });

  t.test('methods outside the acting rules are 405 or rejected, and never proxied', async (t) => {
    for (const method of ['TRACE', 'PROPFIND', 'LOCK'])
      t.match(await call(method, '/x', { key: parent.key }), {
        status: 405,
        headers: { allow: /GET/ },
        body: { code: 'method_not_allowed' },
      });
  });

  t.test('health, metrics and the operator API are on the internal listener alone', async (t) => {
    for (const path of ['/livez', '/readyz', '/metrics'])
      t.equal((await internal('GET', path)).status, 200, path);
    await call('GET', '/livez', { key: parent.key });
    t.equal(last().target, '/livez', 'an ordinary path, for the upstream');
    t.equal((await call('GET', '/admin/v1/accounts')).status, 401);
  });
});

t.test('an upstream is told the parent of the resolved tenant, and the external_ids of both', async (t) => {
  const { call, operator, last, parent: newParent } = await startReplicas(t);
  const parent = await newParent();
  const sub = await parent.create({ name: 'Ada', external_id: 'ada' });
  const subKey = await sub.mint();
  const bare = await parent.create({ name: 'Without' });
  const told = async (key: string, acting: string): Promise<(string | undefined)[]> => {
    const headers = { 'X-Service-Acting-Tenant': acting, 'X-Service-Parent-External-Id': 'forged' };
    const response = await call('POST', '/x', { key, headers });
    if (response.status !== 200) throw new Error(response.text);
    return ['resolved-tenant', 'resolved-external-id', 'parent-tenant', 'parent-external-id'].map((name) => {
      const values = last().values(`x-service-${name}`);
      return values.length > 1 ? String(values) : values[0];
    });
  };
  const changeParent = (externalId: string | null) =>
    operator('PATCH', `/accounts/${parent.id}`, { body: { external_id: externalId } });

  t.same(await told(parent.key, 'self'), [parent.id, undefined, parent.id, undefined]);
  t.same(await told(parent.key, 'ext:ada'), [sub.id, 'ada', parent.id, undefined]);
  t.same(await told(subKey, 'self'), [sub.id, 'ada', parent.id, undefined]);

  t.match((await changeParent('acme/1')).headers['x-service-enforced'], /^replicas=2/);
  t.same(await told(parent.key, 'self'), [parent.id, 'acme/1', parent.id, 'acme/1']);
  t.same(await told(parent.key, bare.id), [bare.id, undefined, parent.id, 'acme/1']);
  t.same(await told(subKey, 'self'), [sub.id, 'ada', parent.id, 'acme/1']);

  for (let i = 0; i < 20; i++) {
    const name = i % 3 === 2 ? null : `acme-${i}`;
    t.equal((await changeParent(name)).status, 200);
    t.same(await told(subKey, 'self'), [sub.id, 'ada', parent.id, name ?? undefined], 'from the 2xx on');
    const changed = await parent.call('PATCH', `/${bare.id}`, { body: { external_id: name } });
    t.equal(changed.status, 200);
    t.same(await told(parent.key, bare.id), [bare.id, name ?? undefined, parent.id, name ?? undefined]);
  }
});

t.test('another prefix renames all of the headers, and both prefixes are reserved', async (t) => {
  const { call, last, parent: newParent } = await startReplicas(t, 'headers:\n  prefix: Acme-\n');
  const parent = await newParent();
  const sub = await parent.create({ name: 'Ada', external_id: 'ada' });
  const headers = {
    'Acme-Acting-Tenant': 'ext:ada',
    'X-Service-Resolved-Tenant': 'forged',
    acme_caller_key: 'forged',
  };
  t.equal((await call('POST', '/x', { key: parent.key, headers })).status, 200);
  t.same(last().values('acme-resolved-tenant'), [sub.id]);
  t.same(last().values('acme-caller-tenant'), [parent.id]);
  t.same(last().values('acme-resolved-external-id'), ['ada']);
  t.same(last().values('acme-parent-tenant'), [parent.id]);
  t.notOk(last().rawHeaders.includes('forged'));
});

t.test(
  'an upstream that accepts no connection is 502, and the response does not say where it is',
  async (t) => {
    const { call, parent: newParent } = await startReplicas(
      t,
      'routes:\n  - prefix: /dead\n    upstream: http://127.0.0.1:9\n',
    );
    const response = await call('GET', '/dead/x', { key: (await newParent()).key });
    t.match(response, { status: 502, body: { code: 'upstream_unreachable' } });
    t.notMatch(response.text, /127\.0\.0\.1|:9\b/);
  },
);
