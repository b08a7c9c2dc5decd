// class: app
import t from 'tap';
import { startApis } from '../../support/apis.ts';

/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t);

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

t.test('a sub-account is created, read, changed, deactivated and reactivated', async (t) => {
  const { call, id: parentId } = await apis.parent();

  const created = await call('POST', '', {
    body: { name: 'Acme Ltd', external_id: 'acme-1', metadata: { region: 'eu', tier: 'gold' } },
  });
  t.equal(created.status, 201);
  t.match(created.headers['content-type'], /^application\/json/);
  t.match(created.body, {
    id: uuidV7,
    name: 'Acme Ltd',
    external_id: 'acme-1',
    status: 'active',
    metadata: { region: 'eu', tier: 'gold' },
    created_at: moment,
    updated_at: moment,
    deactivated_at: null,
  });
  t.same(Object.keys(created.body).sort(), [
    'created_at',
    'deactivated_at',
    'external_id',
    'id',
    'limits',
    'metadata',
    'name',
    'status',
    'updated_at',
  ]);
  t.equal(created.headers['x-service-resolved-tenant'], parentId, 'a management call acts as the parent');

  const path = `/${String(created.body['id'])}`;
  t.match(await call('GET', path), { status: 200, body: created.body });

  const updated = await call('PATCH', path, {
    body: { name: 'Acme Inc', external_id: null, metadata: { tier: null, owner: 'ops' } },
  });
  t.match(updated, { status: 200, body: { name: 'Acme Inc', external_id: null, status: 'active' } });
  t.same(updated.body['metadata'], { region: 'eu', owner: 'ops' }, 'metadata is merged, null removes a pair');
  t.match(await call('PATCH', path, { body: { metadata: {} } }), { status: 200, body: { name: 'Acme Inc' } });

  const deactivated = await call('POST', `${path}/deactivate`);
  t.match(deactivated, { status: 200, body: { status: 'deactivated', deactivated_at: moment } });
  t.same((await call('POST', `${path}/deactivate`)).body, deactivated.body, 'again, it changes nothing');
  t.match((await call('POST', `${path}/reactivate`)).body, { status: 'active', deactivated_at: null });
});

t.test('the least a creation needs is a name; null stands for no external_id', async (t) => {
  const { call } = await apis.parent();
  t.match(await call('POST', '', { body: { name: 'A' } }), {
    status: 201,
    body: { external_id: null, metadata: {} },
  });
  const odd = {
    name: 'null',
    metadata: { constructor: 'a', toString: 'b', hasOwnProperty: 'c', length: 'd', '0': '\n' },
  };
  t.match(
    await call('POST', '', { body: odd }),
    { status: 201, body: odd },
    'names that mean something in JavaScript',
  );
  const widest = {
    name: '\u{1F69A}'.repeat(256),
    external_id: `!${'~'.repeat(254)}`,
    metadata: Object.fromEntries(
      Array.from({ length: 16 }, (_, i) => [`${i}${'k'.repeat(38)}`, 'v'.repeat(500)]),
    ),
  };
  t.match(
    await call('POST', '', { body: widest }),
    { status: 201, body: widest },
    'the widest values there are',
  );
});

t.test('an external_id belongs to one sub-account of a parent, deactivated or not', async (t) => {
  const parent = await apis.parent();
  const other = await apis.parent();
  const holder = await parent.create({ name: 'Holder', external_id: 'x' });
  const free = await parent.create({ name: 'Free', external_id: 'y' });
  await holder.act('deactivate');

  const taken = { status: 409, body: { code: 'external_id_taken', sub_account_id: holder.id } };
  t.match(await parent.call('POST', '', { body: { name: 'Second', external_id: 'x' } }), taken);
  t.match(await parent.call('PATCH', `/${free.id}`, { body: { external_id: 'x' } }), taken);
  t.match(await parent.call('PATCH', `/${holder.id}`, { body: { external_id: 'x' } }), { status: 200 });
  t.ok(await parent.create({ name: 'Case counts', external_id: 'X' }));
  t.ok(await other.create({ name: "Another's", external_id: 'x' }));
});

t.test('a PATCH that changes nothing, or the status, is rejected and says why', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  t.match(await parent.call('PATCH', `/${id}`, { body: {} }), {
    status: 400,
    body: { code: 'invalid_request' },
  });
  const status = await parent.call('PATCH', `/${id}`, { body: { status: 'deactivated' } });
  t.match(status, {
    status: 400,
    body: { errors: [{ pointer: '/status', detail: /deactivate.*reactivate/ }] },
  });
  t.match((await parent.call('GET', `/${id}`)).body, { status: 'active' });

  await parent.call('PATCH', `/${id}`, {
    body: { metadata: Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'v'])) },
  });
  t.match(await parent.call('PATCH', `/${id}`, { body: { metadata: { one: 'more' } } }), {
    status: 400,
    body: { code: 'invalid_request', errors: [{ pointer: '/metadata' }] },
  });
  t.match(await parent.call('PATCH', `/${id}`, { body: { metadata: { k0: null, one: 'instead' } } }), {
    status: 200,
  });
});

t.test(
  'unknown, foreign and malformed ids cannot be told apart; upper case is as good as lower',
  async (t) => {
    const parent = await apis.parent();
    const other = await apis.parent();
    const own = await parent.create();
    const foreign = await other.create();
    const foreignKey = await other.call('POST', `/${foreign.id}/api-keys`, { body: { name: 'k' } });
    const ids = [
      foreign.id,
      other.id,
      parent.id,
      parent.keyId,
      '00000000-0000-0000-0000-000000000000',
      `${own.id.slice(0, -1)}${own.id.endsWith('0') ? '1' : '0'}`,
      `${own.id}0`,
      `{${own.id}}`,
      `urn:uuid:${own.id}`,
      own.id.replaceAll('-', ''),
      'me',
      'self',
      '1',
      'a'.repeat(101),
      'a'.repeat(10_000),
      '%20',
      "'%20or%201=1--",
      'constructor',
      '__proto__',
    ];
    const operations: [string, string, object?][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'x' }],
      ['POST', '/deactivate'],
      ['POST', '/reactivate'],
      ['GET', '/api-keys'],
      ['POST', '/api-keys', { name: 'x' }],
      ['POST', `/api-keys/${String(foreignKey.body['id'])}/revoke`],
      ['POST', '/api-keys/revoke-all'],
    ];
    for (const [method, rest, body] of operations) {
      const bodies = new Set<string>();
      for (const id of ids) {
        const response = await parent.call(method, `/${id}${rest}`, body && { body });
        t.match(
          response,
          { status: 404, body: { code: 'not_found' } },
          `${method} /${id.slice(0, 60)}${rest}`,
        );
        const { request_id: _id, instance: _instance, ...same } = response.body;
        bodies.add(JSON.stringify(same));
      }
      t.equal(bodies.size, 1, 'one body for all');
      for (const id of [own.id, foreign.id])
        t.match(
          await parent.call(method, `/${id}%00${rest}`, body && { body }),
          { status: 400, body: { code: 'invalid_target' } },
          'a path with a NUL is looked up for no id',
        );
      const good = await parent.call(method, `/${own.id.toUpperCase()}${rest}`, body && { body });
      t.equal(
        good.status,
        rest.endsWith('/revoke') ? 404 : rest === '/api-keys' && body ? 201 : 200,
        `${method} ${rest}`,
      );
    }
    t.match((await parent.call('GET', `/${own.id.toUpperCase()}`)).body, { id: own.id });
  },
);
