// class: app
/** The portal's API: what a session shows, and what it changes. */
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { makeLink, openPortal } from '../../support/portal.ts';

const apis = await startApis(t, { portal: {} });

t.test('a session says whom it is for and what it may do', async (t) => {
  const parent = await apis.parent();
  const sub = await parent.create({ name: 'Child', external_id: 'child' });
  const { session, call, id } = await openPortal(t, apis, parent, {
    sub_account_id: sub.id,
    permissions: ['keys:read'],
    scopes: ['orders:read'],
    user: 'ada@example.com',
    return_url: 'https://app.example/settings',
  });
  t.match(session, {
    id,
    account: { id: parent.id, name: 'Parent' },
    sub_account: { id: sub.id, name: 'Child', external_id: 'child' },
    permissions: ['keys:read'],
    scopes: ['orders:read'],
    user: 'ada@example.com',
    return_url: 'https://app.example/settings',
  });
  t.same((await call('GET', '/session')).body, session);
});

t.test('keys are minted, listed, rotated and revoked, with events of the session', async (t) => {
  const parent = await apis.parent();
  const sub = await parent.create();
  const { call, id } = await openPortal(t, apis, parent, {
    sub_account_id: sub.id,
    scopes: ['orders:read'],
    user: 'ada',
  });
  const path = `/sub-accounts/${sub.id}/api-keys`;
  const minted = await call('POST', path, { body: { name: 'laptop', scopes: ['orders:read'] } });
  t.equal(minted.status, 201, minted.text);
  t.match(minted.body, { sub_account_id: sub.id, api_key: /^\w+_/, scopes: ['orders:read'] });
  const rotated = await call('POST', `${path}/${String(minted.body['id'])}/rotate`, {
    body: { expires_in: 0 },
  });
  t.equal(rotated.status, 201, rotated.text);
  const revoked = await call('POST', `${path}/${String(rotated.body['id'])}/revoke`);
  t.equal(revoked.status, 200, revoked.text);
  t.match(revoked.headers['x-service-enforced'], /^replicas=/);
  const { body: list } = await call('GET', path);
  t.same(
    (list['data'] as { status: string }[]).map(({ status }) => status),
    ['revoked', 'revoked'],
  );

  const { body: seen } = await parent.call('GET', '/events');
  const actor = { kind: 'portal', key_id: parent.keyId, name: 'key', session_id: id, user: 'ada' };
  const events = seen['data'] as { type: string; actor: object }[];
  t.same(
    events.slice(0, 3).map(({ type, actor }) => [type, actor]),
    [
      ['api_key.revoked', actor],
      ['api_key.rotated', actor],
      ['api_key.created', actor],
    ],
  );
});

t.test('a session of the parent sees all sub-accounts', async (t) => {
  const parent = await apis.parent();
  const sub = await parent.create({ name: 'Child' });
  await parent.create({ name: 'Another' });
  const { call } = await openPortal(t, apis, parent);
  const { body } = await call('GET', '/sub-accounts?q=chi');
  t.match(body, { data: [{ id: sub.id, name: 'Child', status: 'active' }], has_more: false });
  t.equal(((await call('GET', '/sub-accounts')).body['data'] as []).length, 2);
  t.equal((await call('GET', `/sub-accounts/${sub.id}/api-keys`)).status, 200);
  t.equal((await call('GET', '/usage')).status, 200);
});

t.test('usage and limits are those of the session', async (t) => {
  const parent = await apis.parent();
  const sub = await parent.create({ name: 'Child', limits: { requests_per_month: 100 } });
  await apis.operator('PATCH', `/accounts/${parent.id}`, { body: { limits: { requests_per_month: 500 } } });
  const bound = await openPortal(t, apis, parent, { sub_account_id: sub.id });
  const whole = await openPortal(t, apis, parent);
  const path = `/sub-accounts/${sub.id}/limits`;
  const limited = async ({ call }: typeof bound): Promise<unknown> =>
    ((await call('GET', path)).body['data'] as { limited: string }[]).map(({ limited }) => limited);
  t.same(await limited(bound), ['sub_account'], "not what others used of the parent's");
  t.same(await limited(whole), ['sub_account', 'parent']);
  t.equal((await bound.call('GET', `/usage?sub_account_id=${sub.id}`)).status, 200);
});

t.test('what the request for a link may not say is refused', async (t) => {
  const parent = await apis.parent();
  const foreign = await (await apis.parent()).create();
  for (const [body, status, pointer] of [
    [{ permissions: [] }, 400, '/permissions'],
    [{ permissions: ['keys:all'] }, 400, '/permissions/0'],
    [{ return_url: 'https://evil.example/' }, 400, '/return_url'],
    [{ return_url: 'https://app.example.evil.example/' }, 400, '/return_url'],
    [{ return_url: 'javascript:alert(1)//https://app.example/' }, 400, '/return_url'],
    [{ scopes: ['sub_accounts:write'] }, 400, '/scopes/0'],
    [{ sub_account_id: parent.id }, 404],
    [{ sub_account_id: foreign.id }, 404],
    [{ sub_account_id: 'x' }, 404],
  ] as const) {
    const made = await makeLink(parent, body);
    t.equal(made.status, status, JSON.stringify(body));
    if (pointer !== undefined) t.match(made.body, { errors: [{ pointer }] });
  }
  const reader = await apis.parent(['sub_accounts:read']);
  t.equal((await makeLink(reader)).status, 403, 'a key that may only read');
});

t.test('without a portal there are no links', async (t) => {
  const off = await startApis(t);
  const { status, body } = await makeLink(await off.parent());
  t.equal(status, 404);
  t.match(body['detail'], /portal is off/);
});
