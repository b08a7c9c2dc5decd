// class: app
import t from 'tap';
import { startReplicas } from '../support/replicas.ts';
import { challenges } from '../support/credential-forms.ts';
import { operatorToken } from '../support/apis.ts';
import { rawSql } from '../support/store.ts';

// Who calls (spec section 5, decisions on status codes), through whole gateways, managed on one and looked at on another.

const refusedAs = (code: string, status = 401) => ({ status, body: { code } });

t.test('authentication', async (t) => {
  const { call, manage, operator, upstream, last, databaseUrl, parent: newParent } = await startReplicas(t);

  t.test(
    'rule 1: the key travels as a Bearer token; without one, or with two, 401 unauthenticated',
    async (t) => {
      const parent = await newParent();
      const bearer = ['Authorization', `Bearer ${parent.key}`] as const;
      const bad: readonly (readonly (readonly [string, string])[])[] = [
        [],
        [['Authorization', parent.key]],
        [bearer, bearer],
        [['X-Api-Key', parent.key]],
      ];
      const before = upstream.received.length;
      for (const path of ['/x', '/v1/sub-accounts']) {
        for (const headers of bad) {
          const response = await call('GET', path, { headers });
          t.match(response, refusedAs('unauthenticated'), JSON.stringify(headers.map(([name]) => name)));
          t.equal(response.headers['www-authenticate'], challenges.join(', '));
        }
      }
      t.equal(upstream.received.length, before, 'nothing reached the upstream');
      t.equal((await call('GET', '/x', { headers: { authorization: `bearer ${parent.key}` } })).status, 200);
    },
  );

  t.test('an unknown key and one with a bad checksum are 401 invalid_api_key', async (t) => {
    const { key } = await newParent();
    const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    for (const wrong of [typo, 'tgw_', 'x', operatorToken]) {
      const response = await call('GET', '/x', { key: wrong });
      t.match(response, refusedAs('invalid_api_key'));
      t.equal(response.headers['www-authenticate'], challenges.join(', '));
    }
  });

  t.test('a revoked key is 401 api_key_revoked on every replica from the 2xx on', async (t) => {
    const parent = await newParent();
    const sub = await parent.create();
    const minted = await parent.call('POST', `/${sub.id}/api-keys`, { body: { name: 'k' } });
    const key = String(minted.body['api_key']);
    t.equal((await call('GET', '/x', { key })).status, 200);
    const revoked = await parent.call('POST', `/${sub.id}/api-keys/${String(minted.body['id'])}/revoke`);
    t.equal(revoked.status, 200);
    t.match(revoked.headers['x-service-enforced'], /^replicas=2; ms=\d+/);
    for (const from of [call, manage])
      t.match(await from('GET', '/x', { key }), refusedAs('api_key_revoked'));
  });

  t.test('an expired key is 401 api_key_expired', async (t) => {
    const parent = await newParent();
    const { id } = await parent.create();
    const { body: key } = await parent.call('POST', `/${id}/api-keys`, { body: { name: 'k' } });
    // No replica has read it yet.
    const past = new Date(Date.now() - 3_600_000);
    await rawSql(t, databaseUrl)`update api_key set expires_at = ${past} where id = ${String(key['id'])}`;
    t.match(await call('GET', '/x', { key: String(key['api_key']) }), refusedAs('api_key_expired'));
  });

  t.test(
    'rule 2: a sub-account key on any management path is 403, before anything is looked up',
    async (t) => {
      const parent = await newParent();
      const sub = await parent.create();
      const key = await sub.mint(['tracking:read']);
      const responses = new Set<string>();
      for (const path of ['', '/', `/${sub.id}`, `/${parent.id}`, '/no/such/path', '/usage'])
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE']) {
          const { status, body } = await call(method, `/v1/sub-accounts${path}`, { key });
          responses.add(`${status} ${String(body['code'])}`);
        }
      t.same([...responses], ['403 parent_key_required']);
    },
  );

  t.test(
    'rule 3: reads under management ask for sub_accounts:read, writes for sub_accounts:write',
    async (t) => {
      const reader = await newParent(['sub_accounts:read']);
      const writer = await newParent(['sub_accounts:write']);
      t.equal((await reader.call('GET', '')).status, 200);
      const noWrite = await reader.call('POST', '', { body: { name: 'x' } });
      t.match(noWrite.body, { status: 403, code: 'insufficient_scope', scope: 'sub_accounts:write' });
      t.equal((await writer.call('POST', '', { body: { name: 'x' } })).status, 201);
      const noRead = await writer.call('GET', '');
      t.match(noRead.body, { code: 'insufficient_scope', scope: 'sub_accounts:read' });
    },
  );

  t.test(
    'rule 3: keys of a sub-account carry the scopes they were minted with, and the upstream is told',
    async (t) => {
      const parent = await newParent();
      const key = await (await parent.create()).mint(['tracking:read', 'tracking:write']);
      t.equal((await call('GET', '/x', { key })).status, 200);
      t.same(last().values('x-service-caller-scopes'), ['tracking:read tracking:write']);
      t.same(last().values('authorization'), [], 'the key itself stays here');
    },
  );

  t.test(
    'keys of a deactivated sub-account are 403 account_deactivated everywhere, and work again',
    async (t) => {
      const parent = await newParent();
      const sub = await parent.create();
      const key = await sub.mint();
      await sub.act('deactivate');
      for (const path of ['/x', '/v1/sub-accounts', '/v1/sub-accounts/none']) {
        const response = await call('GET', path, { key, headers: { 'X-Service-Acting-Tenant': parent.id } });
        t.match(response, refusedAs('account_deactivated', 403), path);
      }
      await sub.act('reactivate');
      t.equal((await call('GET', '/x', { key })).status, 200);
    },
  );

  t.test(
    'a suspended parent is 403 account_suspended, with everything under it, until it is resumed',
    async (t) => {
      const parent = await newParent();
      const key = await (await parent.create()).mint();
      for (let times = 0; times < 2; times++)
        t.match(await operator('POST', `/accounts/${parent.id}/suspend`), {
          status: 200,
          headers: { 'x-service-enforced': /^replicas=2; / },
          body: { status: 'suspended' },
        });
      for (const used of [parent.key, key]) {
        for (const path of ['/x', '/v1/sub-accounts'])
          t.match(await call('GET', path, { key: used }), refusedAs('account_suspended', 403));
      }
      t.equal((await operator('POST', `/accounts/${parent.id}/resume`)).status, 200);
      t.equal((await call('GET', '/x', { key })).status, 200);
    },
  );
});

t.test('a route may ask for scopes of its own, by kind of method', async (t) => {
  const { call, parent: newParent } = await startReplicas(
    t,
    `routes:
  - prefix: /v1/tracking
    upstream: http://127.0.0.1:9
    scopes: { read: 'tracking:read', write: 'tracking:write' }
`,
  );
  const key = await (await (await newParent()).create()).mint(['tracking:read']);
  const rejected = await call('POST', '/v1/tracking/1', { key });
  t.match(rejected.body, { status: 403, code: 'insufficient_scope', scope: 'tracking:write' });
  t.equal(
    (await call('GET', '/v1/tracking/1', { key })).status,
    502,
    'let through to an upstream that is not there',
  );
  t.equal((await call('POST', '/other', { key })).status, 200, 'other routes ask for nothing');
});
