// class: app
import t from 'tap';
import { startReplicas } from '../support/replicas.ts';

// The acting header, sentence by sentence (spec section 4), through whole gateways. Everything is managed on one
// replica and looked at on another, so every 2xx below is also seen to be enforced.

const writes = ['POST', 'PUT', 'PATCH', 'DELETE'];
const reads = ['GET', 'HEAD', 'OPTIONS'];
const acting = (value: string) => ({ headers: { 'X-Service-Acting-Tenant': value } });

t.test('the acting header', async (t) => {
  const { call, last, parent: newParent } = await startReplicas(t, '', 'Basic, password');

  t.test('rule 1: while no sub-account is active, writes need no header', async (t) => {
    const parent = await newParent();
    for (const method of writes) t.equal((await call(method, '/x', { key: parent.key })).status, 200, method);
    t.same(last().values('x-service-resolved-tenant'), [parent.id]);
  });

  t.test(
    'rule 1: with an active sub-account every write without the header is 400 and goes nowhere',
    async (t) => {
      const parent = await newParent();
      const sub = await parent.create();
      for (const method of writes) {
        const response = await call(method, '/x', { key: parent.key });
        t.equal(response.status, 400, method);
        t.equal(response.body['code'], 'acting_tenant_required');
        t.match(response.body['detail'], /self.*<sub-account UUID>.*ext:<external_id>/);
      }
      await sub.act('deactivate');
      t.equal(
        (await call('POST', '/x', { key: parent.key })).status,
        200,
        'a deactivated one does not count',
      );
      await sub.act('reactivate');
      t.equal((await call('POST', '/x', { key: parent.key })).status, 400, 'a reactivated one does');
    },
  );

  t.test('rule 2: self on a write targets the parent', async (t) => {
    const parent = await newParent();
    await parent.create();
    for (const method of writes) {
      t.equal((await call(method, '/x', { key: parent.key, ...acting('self') })).status, 200, method);
      t.same(last().values('x-service-resolved-tenant'), [parent.id]);
    }
  });

  t.test('rule 3: reads never need the header and default to self', async (t) => {
    const parent = await newParent();
    await parent.create();
    for (const method of reads) {
      t.equal((await call(method, '/x', { key: parent.key })).status, 200, method);
      t.same(last().values('x-service-resolved-tenant'), [parent.id]);
    }
  });

  t.test(
    'rule 4: a parent acts as any of its active sub-accounts, by UUID in any case or by external_id',
    async (t) => {
      const parent = await newParent();
      const ada = await parent.create({ name: 'Ada', external_id: 'ada/1' });
      const bob = await parent.create({ name: 'Bob' });
      for (const [value, id] of [
        [ada.id, ada.id],
        [ada.id.toUpperCase(), ada.id],
        ['ext:ada/1', ada.id],
        [bob.id, bob.id],
        [parent.id.toUpperCase(), parent.id],
      ] as const) {
        for (const method of ['GET', 'POST']) {
          const response = await call(method, '/x', { key: parent.key, ...acting(value) });
          t.equal(response.status, 200, `${method} ${value}`);
          t.equal(response.headers['x-service-resolved-tenant'], id, 'the client is told');
          t.same(last().values('x-service-resolved-tenant'), [id], 'the upstream is told');
          t.same(last().values('x-service-caller-tenant'), [parent.id]);
          t.same(last().values('x-service-caller-key'), [parent.keyId]);
          t.same(last().values('x-service-acting-tenant'), []);
        }
      }
    },
  );

  t.test('rule 4: a deactivated sub-account is rejected as a target until it is reactivated', async (t) => {
    const parent = await newParent();
    const sub = await parent.create({ name: 'Ada', external_id: 'ada' });
    for (const value of [sub.id, 'ext:ada']) {
      await sub.act('deactivate');
      const rejected = await call('GET', '/x', { key: parent.key, ...acting(value) });
      t.equal(rejected.status, 403);
      t.equal(rejected.body['code'], 'acting_tenant_deactivated');
      await sub.act('reactivate');
      t.equal((await call('GET', '/x', { key: parent.key, ...acting(value) })).status, 200);
    }
  });

  t.test('an unknown, a foreign and an unused target get one and the same rejection', async (t) => {
    const [parent, stranger] = [await newParent(), await newParent()];
    const foreign = await stranger.create({ name: 'Foreign', external_id: 'theirs' });
    const responses = [];
    for (const value of [
      foreign.id,
      stranger.id,
      '018f0000-0000-7000-8000-00000000dead',
      'ext:theirs',
      'ext:none',
    ]) {
      const { status, body } = await call('GET', '/x', { key: parent.key, ...acting(value) });
      responses.push({ status, ...body, request_id: '' });
    }
    t.equal(responses[0]?.status, 403);
    t.match(responses[0], { code: 'acting_tenant_unknown' });
    for (const response of responses) t.same(response, responses[0]);
  });

  t.test(
    'rule 5: a sub-account key acts only as itself; any other value is 403, malformed ones included',
    async (t) => {
      const parent = await newParent();
      const ada = await parent.create({ name: 'Ada', external_id: 'ada' });
      const bob = await parent.create({ name: 'Bob', external_id: 'bob' });
      const key = await ada.mint();
      for (const value of [undefined, 'self', ada.id, ada.id.toUpperCase(), 'ext:ada']) {
        for (const method of ['GET', 'POST']) {
          const response = await call(method, '/x', { key, ...(value === undefined ? {} : acting(value)) });
          t.equal(response.status, 200, `${method} ${value ?? 'without'}`);
          t.same(last().values('x-service-resolved-tenant'), [ada.id]);
          t.same(last().values('x-service-caller-tenant'), [ada.id]);
        }
      }
      for (const value of [bob.id, parent.id, 'ext:bob', 'ext:Ada', 'Self', '', 'ext:', '*', 'self, self']) {
        const response = await call('GET', '/x', { key, ...acting(value) });
        t.equal(response.status, 403, JSON.stringify(value));
        t.equal(response.body['code'], 'acting_tenant_forbidden');
      }
      const twice = [
        ['X-Service-Acting-Tenant', 'self'],
        ['X-Service-Acting-Tenant', 'self'],
      ] as const;
      t.equal((await call('GET', '/x', { key, headers: twice })).status, 403);
    },
  );

  t.test('a parent key that sends the header malformed, empty or twice gets 400', async (t) => {
    const parent = await newParent();
    for (const value of ['', 'Self', 'ext:', 'ext:a,b', 'nobody', 'self, self', '{}']) {
      const response = await call('GET', '/x', { key: parent.key, ...acting(value) });
      t.equal(response.status, 400, JSON.stringify(value));
      t.equal(response.body['code'], 'invalid_acting_tenant');
    }
    const twice = [
      ['X-Service-Acting-Tenant', 'self'],
      ['x-service-acting-tenant', 'self'],
    ] as const;
    t.equal(
      (await call('GET', '/x', { key: parent.key, headers: twice })).body['code'],
      'invalid_acting_tenant',
    );
  });

  t.test('the header is checked after the caller, and the body is never read for it', async (t) => {
    const unknown = await call('POST', '/x', { key: 'tgw_wrong', ...acting('nobody') });
    t.equal(unknown.status, 401);
    const parent = await newParent();
    await parent.create();
    const body = { tenant: 'self', 'X-Service-Acting-Tenant': 'self' };
    t.equal((await call('POST', '/x?X-Service-Acting-Tenant=self', { key: parent.key, body })).status, 400);
  });

  t.test(
    'an external_id that moves from one sub-account to another leads to the new one at once',
    async (t) => {
      const parent = await newParent();
      const [ada, bob] = [
        await parent.create({ name: 'A', external_id: 'x' }),
        await parent.create({ name: 'B' }),
      ];
      t.equal((await call('GET', '/x', { key: parent.key, ...acting('ext:x') })).status, 200);
      t.equal((await parent.call('PATCH', `/${ada.id}`, { body: { external_id: null } })).status, 200);
      const nobody = await call('GET', '/x', { key: parent.key, ...acting('ext:x') });
      t.equal(nobody.body['code'], 'acting_tenant_unknown');
      t.equal((await parent.call('PATCH', `/${bob.id}`, { body: { external_id: 'x' } })).status, 200);
      await call('GET', '/x', { key: parent.key, ...acting('ext:x') });
      t.same(last().values('x-service-resolved-tenant'), [bob.id]);
    },
  );
});
