// class: app
import t from 'tap';
import { startReplicas } from '../support/replicas.ts';

// The acting header, sentence by sentence (spec section 4), through whole gateways. Everything is managed on one
// replica and looked at on another, so every 2xx below is also seen to be enforced.

const writes = ['POST', 'PUT', 'PATCH', 'DELETE'];
const reads = ['GET', 'HEAD', 'OPTIONS'];
const both = ['GET', 'POST'];
const acting = (value: string) => ({ headers: { 'X-Service-Acting-Tenant': value } });

t.test('the acting header', async (t) => {
  const { call, upstream, last, parent: newParent } = await startReplicas(t, '', 'Basic, password');

  /** What becomes of a request with each method: whose it is, as the upstream and the client are told, or its code. */
  async function sent(key: string, methods: readonly string[], value?: string): Promise<unknown> {
    const outcomes = new Set<unknown>();
    for (const method of methods) {
      const { status, headers, body } = await call(method, '/x', {
        key,
        ...(value !== undefined && acting(value)),
      });
      if (status !== 200) {
        outcomes.add(`${status} ${String(body['code'])}`);
        continue;
      }
      const told = last().values('x-service-resolved-tenant').join();
      outcomes.add(told === headers['x-service-resolved-tenant'] ? told : `the upstream is told ${told}`);
    }
    return outcomes.size === 1 ? [...outcomes][0] : [...outcomes];
  }

  t.test('rule 1: while no sub-account is active, writes need no header', async (t) => {
    const parent = await newParent();
    t.equal(await sent(parent.key, writes), parent.id);
  });

  t.test(
    'rule 1: with an active sub-account every write without the header is 400 and goes nowhere',
    async (t) => {
      const parent = await newParent();
      const sub = await parent.create();
      const before = upstream.received.length;
      t.equal(await sent(parent.key, writes), '400 acting_tenant_required');
      t.equal(upstream.received.length, before);
      const { body } = await call('POST', '/x', { key: parent.key });
      t.match(body['detail'], /self.*<sub-account UUID>.*ext:<external_id>/);
      await sub.act('deactivate');
      t.equal(await sent(parent.key, writes), parent.id, 'a deactivated one does not count');
      await sub.act('reactivate');
      t.equal(await sent(parent.key, writes), '400 acting_tenant_required', 'a reactivated one does');
    },
  );

  t.test('rule 2: self on a write targets the parent', async (t) => {
    const parent = await newParent();
    await parent.create();
    t.equal(await sent(parent.key, writes, 'self'), parent.id);
  });

  t.test('rule 3: reads never need the header and default to self', async (t) => {
    const parent = await newParent();
    await parent.create();
    t.equal(await sent(parent.key, reads), parent.id);
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
        t.equal(await sent(parent.key, both, value), id, value);
        t.same(last().values('x-service-caller-tenant'), [parent.id]);
        t.same(last().values('x-service-caller-key'), [parent.keyId]);
        t.same(last().values('x-service-acting-tenant'), []);
      }
    },
  );

  t.test('rule 4: a deactivated sub-account is rejected as a target until it is reactivated', async (t) => {
    const parent = await newParent();
    const sub = await parent.create({ name: 'Ada', external_id: 'ada' });
    for (const value of [sub.id, 'ext:ada']) {
      await sub.act('deactivate');
      t.equal(await sent(parent.key, both, value), '403 acting_tenant_deactivated');
      await sub.act('reactivate');
      t.equal(await sent(parent.key, both, value), sub.id);
    }
  });

  t.test('an unknown, a foreign and an unused target get one and the same rejection', async (t) => {
    const [parent, stranger] = [await newParent(), await newParent()];
    const foreign = await stranger.create({ name: 'Foreign', external_id: 'theirs' });
    const unknown = '018f0000-0000-7000-8000-00000000dead';
    const responses = [];
    for (const value of [foreign.id, stranger.id, unknown, 'ext:theirs', 'ext:none']) {
      const { status, body } = await call('GET', '/x', { key: parent.key, ...acting(value) });
      responses.push({ status, ...body, request_id: '' });
    }
    t.match(responses[0], { status: 403, code: 'acting_tenant_unknown' });
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
        t.equal(await sent(key, both, value), ada.id, value ?? 'without');
        t.same(last().values('x-service-caller-tenant'), [ada.id]);
      }
      for (const value of [bob.id, parent.id, 'ext:bob', 'ext:Ada', 'Self', '', 'ext:', '*', 'self, self'])
        t.equal(await sent(key, both, value), '403 acting_tenant_forbidden', JSON.stringify(value));
      const self = ['X-Service-Acting-Tenant', 'self'] as const;
      t.equal((await call('GET', '/x', { key, headers: [self, self] })).status, 403);
    },
  );

  t.test('a parent key that sends the header malformed, empty or twice gets 400', async (t) => {
    const parent = await newParent();
    for (const value of ['', 'Self', 'ext:', 'ext:a,b', 'nobody', 'self, self', '{}'])
      t.equal(await sent(parent.key, both, value), '400 invalid_acting_tenant', JSON.stringify(value));
    const headers = ['X-Service-Acting-Tenant', 'x-service-acting-tenant'].map(
      (name) => [name, 'self'] as const,
    );
    const { body } = await call('GET', '/x', { key: parent.key, headers });
    t.equal(body['code'], 'invalid_acting_tenant');
  });

  t.test('the header is checked after the caller, and the body is never read for it', async (t) => {
    t.equal(await sent('tgw_wrong', ['POST'], 'nobody'), '401 invalid_api_key');
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
      t.equal(await sent(parent.key, both, 'ext:x'), ada.id);
      t.equal((await parent.call('PATCH', `/${ada.id}`, { body: { external_id: null } })).status, 200);
      t.equal(await sent(parent.key, both, 'ext:x'), '403 acting_tenant_unknown');
      t.equal((await parent.call('PATCH', `/${bob.id}`, { body: { external_id: 'x' } })).status, 200);
      t.equal(await sent(parent.key, both, 'ext:x'), bob.id);
    },
  );
});
