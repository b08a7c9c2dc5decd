// class: app
/** What a session of the portal reaches for and must not get: other accounts, other permissions, wider keys. */
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { everyPermission, openPortal, portalCall } from '../support/portal.ts';

const apis = await startApis(t, { portal: {} });

t.test('ids of another sub-account and of another parent are unknown', async (t) => {
  const [mine, theirs] = [await apis.parent(), await apis.parent()];
  const [sub, sibling, foreign] = [await mine.create(), await mine.create(), await theirs.create()];
  for (const [name, id, others] of [
    ['one sub-account', sub.id, [sibling.id, foreign.id, mine.id, theirs.id]],
    ['the parent', undefined, [foreign.id, mine.id, theirs.id]],
  ] as const) {
    const { call } = await openPortal(t, apis, mine, id === undefined ? {} : { sub_account_id: id });
    for (const other of others) {
      const at = `/sub-accounts/${other}`;
      const key = '01a21ece-f355-7319-b97b-d87224a19f4f';
      for (const [method, path, body] of [
        ['GET', at],
        ['GET', `${at}/limits`],
        ['GET', `${at}/api-keys`],
        ['GET', `${at}/api-keys/${key}`],
        ['POST', `${at}/api-keys`, { name: 'mine' }],
        ['POST', `${at}/api-keys/${key}/rotate`, { expires_in: 0 }],
        ['POST', `${at}/api-keys/${key}/revoke`],
      ] as const) {
        const response = await call(method, path, { ...(body && { body }) });
        t.equal(response.status, 404, `${name}: ${method} ${path.replace(other, 'ID')}`);
      }
      if (other === mine.id) continue;
      t.equal((await call('GET', `/usage?sub_account_id=${other}`)).status, 404, `${name}: usage`);
      const { status, body } = await call('GET', `/events?sub_account_id=${other}`);
      t.ok(status === 404 || (body['data'] as []).length === 0, `${name}: events`);
    }
  }
});

t.test("a key of a sibling is out of reach by the session's own sub-account", async (t) => {
  const mine = await apis.parent();
  const [sub, sibling] = [await mine.create(), await mine.create()];
  await sibling.mint();
  const { body } = await mine.call('GET', `/${sibling.id}/api-keys`);
  const [key] = body['data'] as { id: string }[];
  const { call } = await openPortal(t, apis, mine, { sub_account_id: sub.id });
  const path = `/sub-accounts/${sub.id}/api-keys/${key?.id}`;
  t.equal((await call('GET', path)).status, 404);
  t.equal((await call('POST', `${path}/revoke`)).status, 404);
  t.equal((await call('POST', `${path}/rotate`, { body: { expires_in: 0 } })).status, 404);
  t.equal((await call('GET', `/sub-accounts/${sub.id}/limits?key_id=${key?.id}`)).status, 404);
});

t.test('each operation needs its permission', async (t) => {
  const mine = await apis.parent();
  const sub = await mine.create();
  const at = `/sub-accounts/${sub.id}`;
  const key = '01a21ece-f355-7319-b97b-d87224a19f4f';
  const operations = [
    ['keys:read', 'GET', `${at}/api-keys`],
    ['keys:read', 'GET', `${at}/api-keys/${key}`],
    ['keys:write', 'POST', `${at}/api-keys`, { name: 'key' }],
    ['keys:write', 'POST', `${at}/api-keys/${key}/rotate`, { expires_in: 0 }],
    ['keys:write', 'POST', `${at}/api-keys/${key}/revoke`],
    ['usage:read', 'GET', '/usage'],
    ['usage:read', 'GET', `${at}/limits`],
    ['events:read', 'GET', '/events'],
    ['sub_accounts:read', 'GET', '/sub-accounts'],
    ['sub_accounts:read', 'GET', at],
  ] as const;
  for (const permission of everyPermission) {
    const { call } = await openPortal(t, apis, mine, { permissions: [permission] });
    for (const [needed, method, path, body] of operations) {
      const response = await call(method, path, { ...(body && { body }) });
      if (needed === permission) t.not(response.status, 403, `${permission}: ${method} ${path}`);
      else {
        t.equal(response.status, 403, `${permission} for ${needed}`);
        t.match(response.body, { code: 'insufficient_scope', scope: needed });
      }
    }
  }
});

t.test('no key gets a scope that the session may not give', async (t) => {
  const mine = await apis.parent();
  const sub = await mine.create();
  await sub.mint(['orders:write']);
  const { call } = await openPortal(t, apis, mine, { sub_account_id: sub.id, scopes: ['orders:read'] });
  const path = `/sub-accounts/${sub.id}/api-keys`;
  for (const scopes of [['orders:write'], ['orders:read', '*'], ['sub_accounts:write']]) {
    const { status, body } = await call('POST', path, { body: { name: 'wide', scopes } });
    t.equal(status, 400, scopes.join());
    t.equal(body['code'], 'scope_not_grantable');
  }
  const [wide] = (await call('GET', path)).body['data'] as { id: string }[];
  const rotated = await call('POST', `${path}/${wide?.id}/rotate`, { body: { expires_in: 0 } });
  t.equal(rotated.body['code'], 'scope_not_grantable', 'a rotation would show the secret of such a key');
  t.notOk(rotated.text.includes('api_key"'));
});

t.test('the token of a session is no key, and no key is a token', async (t) => {
  const mine = await apis.parent();
  const sub = await mine.create();
  const subKey = await sub.mint();
  const { token, link } = await openPortal(t, apis, mine);
  for (const sent of [token, link]) {
    t.equal((await apis.call('GET', '/v1/sub-accounts', { key: sent })).status, 401);
    t.equal((await apis.operator('GET', '/accounts', { key: sent })).status, 401);
  }
  const bare = portalCall(t, apis);
  for (const sent of [mine.key, subKey, link, '', 'x'.repeat(10_000)])
    t.equal((await bare('GET', '/session', { key: sent })).status, 401);
});

t.test('the portal has no other operation', async (t) => {
  const mine = await apis.parent();
  const sub = await mine.create();
  const { call } = await openPortal(t, apis, mine);
  for (const [method, path] of [
    ['POST', '/sub-accounts'],
    ['PATCH', `/sub-accounts/${sub.id}`],
    ['DELETE', `/sub-accounts/${sub.id}`],
    ['POST', `/sub-accounts/${sub.id}/deactivate`],
    ['PATCH', `/sub-accounts/${sub.id}/api-keys/${sub.id}`],
    ['POST', `/sub-accounts/${sub.id}/api-keys/revoke-all`],
    ['POST', '/portal-sessions'],
    ['GET', '/caller'],
    ['GET', '/../v1/sub-accounts'],
  ] as const)
    t.ok([404, 405].includes((await call(method, path)).status), `${method} ${path}`);
});

t.test("a sub-account's people do not see who of the parent was in the portal", async (t) => {
  const mine = await apis.parent();
  const sub = await mine.create({ name: 'Child', metadata: { note: 'late payer' } });
  await mine.create();
  const staff = await openPortal(t, apis, mine, { user: 'alice of support' });
  await staff.call('POST', `/sub-accounts/${sub.id}/api-keys`, { body: { name: 'by staff' } });
  const own = await openPortal(t, apis, mine, { sub_account_id: sub.id, user: 'carol' });
  await own.call('POST', `/sub-accounts/${sub.id}/api-keys`, { body: { name: 'by carol' } });
  const { text, body } = await own.call('GET', '/events');
  t.notMatch(text + (await own.call('GET', `/sub-accounts/${sub.id}`)).text, /alice|late payer/);
  const [carols, staffs, created, ...more] = body['data'] as {
    actor: object;
    address: unknown;
    request_id: unknown;
  }[];
  t.match(carols?.actor, { kind: 'portal', key_id: null, name: null, session_id: own.id, user: 'carol' });
  t.same(staffs?.actor, { kind: 'portal', key_id: null, name: null });
  t.same(created?.actor, { kind: 'api_key', key_id: null, name: null });
  for (const one of [staffs, created]) t.same([one?.address, one?.request_id], [null, null]);
  t.same(more, [], 'nor what became of another one');
});

t.test('a visitor without a session can make the gateway hold little', async (t) => {
  const { status } = await portalCall(t, apis)('POST', '/redeem', { body: { link: 'x'.repeat(2_000) } });
  t.equal(status, 413);
});
