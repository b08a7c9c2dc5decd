/** Who changed what, from where, before and after: as the parent and as operators read it. */
import { createHash } from 'node:crypto';
import t from 'tap';
import { startApis, type Parent } from '../../support/apis.ts';
import type { Call } from '../../support/http-client.ts';

const tokens = { alice: 'token-of-alice-for-tests-0123456789', bob: 'token-of-bob-for-tests-0123456789ab' };
/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t, { adminTokens: tokens, trustedProxies: ['127.0.0.0/8', '::1'] });

interface Event {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly account_id: string;
  readonly sub_account_id: string | null;
  readonly actor: { readonly kind: string; readonly key_id: string | null; readonly name: string | null };
  readonly request_id: string | null;
  readonly address: string | null;
  readonly data: {
    readonly object: Record<string, unknown>;
    readonly previous: Record<string, unknown> | null;
  };
}

const as =
  (token: string): Call =>
  (method, path, more) =>
    apis.operator(method, path, { key: token, ...more });

/** What an operator sees of a parent, oldest first. */
async function eventsOf(account: string): Promise<Event[]> {
  const { body } = await apis.operator('GET', `/events?account_id=${account}&limit=100`);
  return (body['data'] as Event[]).toReversed();
}

/** What the parent sees, oldest first. */
async function seenBy(parent: Parent): Promise<Event[]> {
  return ((await parent.call('GET', '/events?limit=100')).body['data'] as Event[]).toReversed();
}

t.test('every write of both APIs leaves one event, and sent again none', async (t) => {
  const parent = await apis.parent();
  const { call } = parent;
  const at = `/accounts/${parent.id}`;
  const created = await call('POST', '', { body: { name: 'One', external_id: 'one' } });
  const sub = String(created.body['id']);
  const minted = await call('POST', `/${sub}/api-keys`, { body: { name: 'k' } });
  const key = String(minted.body['id']);
  const operators = await apis.operator('POST', `${at}/api-keys`, { body: { name: 'second' } });
  const second = String(operators.body['id']);
  const theirs = String(
    (await apis.operator('POST', `${at}/sub-accounts`, { body: { name: 'Theirs' } })).body['id'],
  );
  const digest = createHash('sha256').update(`imported by ${parent.id}`).digest('hex');
  t.same(
    (await eventsOf(parent.id)).map(({ type }) => type),
    [
      ...['account.created', 'api_key.created', 'sub_account.created', 'api_key.created'],
      ...['api_key.created', 'sub_account.created'],
    ],
  );

  const writes: readonly [string, () => ReturnType<Call>][] = [
    ['sub_account.updated', () => call('PATCH', `/${sub}`, { body: { name: 'Two', metadata: { a: 'b' } } })],
    ['sub_account.deactivated', () => call('POST', `/${sub}/deactivate`)],
    ['sub_account.reactivated', () => call('POST', `/${sub}/reactivate`)],
    ['sub_account.created', () => call('PUT', '/by-external-id/put', { body: { name: 'Put' } })],
    ['sub_account.updated', () => call('PUT', '/by-external-id/put', { body: { name: 'Put again' } })],
    ['api_key.updated', () => call('PATCH', `/${sub}/api-keys/${key}`, { body: { name: 'renamed' } })],
    ['api_key.updated', () => apis.operator('PATCH', `/api-keys/${second}`, { body: { name: 'renamed' } })],
    ['api_key.revoked', () => call('POST', `/${sub}/api-keys/${key}/revoke`)],
    [
      'account.updated',
      () => apis.operator('PATCH', at, { body: { name: 'Renamed', metadata: { note: 'x' } } }),
    ],
    ['account.suspended', () => apis.operator('POST', `${at}/suspend`)],
    ['account.resumed', () => apis.operator('POST', `${at}/resume`)],
    ['sub_account.deactivated', () => apis.operator('POST', `${at}/sub-accounts/${theirs}/deactivate`)],
    ['sub_account.reactivated', () => apis.operator('POST', `${at}/sub-accounts/${theirs}/reactivate`)],
    [
      'api_key.created',
      () =>
        apis.operator('POST', `${at}/api-keys/import`, { body: { keys: [{ sha256: digest, name: 'i' }] } }),
    ],
    ['api_key.revoked', () => apis.operator('POST', `/api-keys/${second}/revoke`)],
  ];
  for (const [type, write] of writes) {
    const before = await eventsOf(parent.id);
    for (const attempt of ['first', 'second'] as const) {
      t.match(await write(), { status: /^20[01]$/ }, `${type}, ${attempt}`);
      const left = (await eventsOf(parent.id)).slice(before.length);
      t.same(
        left.map((event) => event.type),
        [type],
        `${type}, ${attempt}`,
      );
    }
  }
});

t.test('an event says who, by which request, from where, what it is now and what it was', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create({ name: 'Before', external_id: 'one', metadata: { a: '1', b: '2' } });
  const headers = { 'x-request-id': 'the-request', 'x-forwarded-for': '203.0.113.9, 192.0.2.7' };
  const changed = await parent.call('PATCH', `/${id}`, {
    headers,
    body: { name: 'After', metadata: { b: null } },
  });
  t.equal(changed.headers['x-request-id'], 'the-request');
  const [event] = (await seenBy(parent)).slice(-1);
  t.match(event, {
    id: /^[0-9a-f]{8}-[0-9a-f]{4}-7/,
    type: 'sub_account.updated',
    account_id: parent.id,
    sub_account_id: id,
    actor: { kind: 'api_key', key_id: parent.keyId, name: 'key' },
    request_id: 'the-request',
    address: '192.0.2.7',
  });
  t.same(event?.data, {
    object: changed.body,
    previous: { name: 'Before', metadata: { a: '1', b: '2' } },
  });
  t.same((await parent.call('GET', `/events/${event?.id.toUpperCase() ?? ''}`)).body, event);
  t.same((await apis.operator('GET', `/events/${event?.id ?? ''}`)).body, event);

  await parent.call('POST', `/${id}/deactivate`);
  t.match((await seenBy(parent)).at(-1)?.data, {
    object: { status: 'deactivated', deactivated_at: /Z$/ },
    previous: { status: 'active', deactivated_at: null },
  });
  const minted = await parent.call('POST', `/${id}/api-keys`, { body: { name: 'k', scopes: ['a:b'] } });
  const { api_key: _key, client_secret: _secret, ...shown } = minted.body;
  t.same((await seenBy(parent)).at(-1)?.data, { object: shown, previous: null });
  const revoked = await parent.call('POST', `/${id}/api-keys/${String(shown['id'])}/revoke`);
  t.same((await seenBy(parent)).at(-1)?.data, {
    object: revoked.body,
    previous: { status: 'active', revoked_at: null },
  });
});

t.test('a rotation is one event, of the new key, whatever becomes of the old one', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  for (const expiresIn of [0, 60]) {
    const minted = await parent.call('POST', `/${id}/api-keys`, { body: { name: 'k' } });
    const before = (await seenBy(parent)).length;
    const old = String(minted.body['id']);
    const headers = { 'idempotency-key': `rotation-${old}` };
    const rotate = () =>
      parent.call('POST', `/${id}/api-keys/${old}/rotate`, { headers, body: { expires_in: expiresIn } });
    const rotated = await rotate();
    t.equal(rotated.status, 201);
    t.equal((await rotate()).headers['idempotency-replayed'], 'true');
    const { api_key: _key, client_secret: _secret, ...shown } = rotated.body;
    const left = (await seenBy(parent)).slice(before);
    t.match(left, [{ type: 'api_key.rotated', sub_account_id: id, actor: { key_id: parent.keyId } }]);
    t.equal(left.length, 1);
    t.same(left[0]?.data, { object: shown, previous: { id: old } });
  }
});

t.test('operators are told apart by their tokens', async (t) => {
  const { id } = await apis.parent();
  await as(tokens.alice)('POST', `/accounts/${id}/suspend`);
  await as(tokens.bob)('POST', `/accounts/${id}/resume`);
  t.match(
    (await eventsOf(id)).map(({ type, actor }) => [type, actor.kind, actor.name]),
    [
      ['account.created', 'operator', 'operator'],
      ['api_key.created', 'operator', 'operator'],
      ['account.suspended', 'operator', 'alice'],
      ['account.resumed', 'operator', 'bob'],
    ],
  );
  for (const wrong of ['', 'x', `${tokens.alice}x`, tokens.alice.slice(1), 'alice'])
    t.equal((await as(wrong)('GET', '/accounts')).status, 401, wrong);
});

t.test('without ADMIN_TOKEN the operator API is on for named tokens alone', async (t) => {
  const named = await startApis(t, { adminToken: null, adminTokens: tokens });
  t.equal((await named.operator('GET', '/accounts', { key: tokens.bob })).status, 200);
  t.equal((await named.operator('GET', '/accounts')).status, 401);
});

t.test(
  'a parent sees what operators did to it, but not which of them, nor what they note of it',
  async (t) => {
    const parent = await apis.parent();
    await as(tokens.alice)('PATCH', `/accounts/${parent.id}`, {
      body: { name: 'Renamed', external_id: `x-${parent.id}`, metadata: { risk: 'high' } },
    });
    await as(tokens.alice)('POST', `/accounts/${parent.id}/sub-accounts`, { body: { name: 'Theirs' } });
    const seen = await seenBy(parent);
    const full = await eventsOf(parent.id);
    t.same(
      seen.map((event) => event.id),
      full.map((event) => event.id),
    );
    for (const event of seen)
      t.match(event, {
        actor: { kind: 'operator', key_id: null, name: null },
        request_id: null,
        address: null,
      });
    t.match(full.at(-1), { actor: { name: 'alice' }, request_id: /./, address: '127.0.0.1' });
    t.match(seen.at(2), {
      type: 'account.updated',
      data: {
        object: { name: 'Renamed', external_id: `x-${parent.id}` },
        previous: { name: 'Parent', external_id: null },
      },
    });
    t.match(full.at(2)?.data, { object: { metadata: { risk: 'high' } }, previous: { metadata: {} } });
    t.notMatch(JSON.stringify(seen), /alice|risk|metadata":\{"r/);
  },
);

t.test('a parent reads its own events alone, with the scope to read', async (t) => {
  const [parent, other] = [await apis.parent(), await apis.parent()];
  const { id } = await parent.create();
  const { id: foreign } = await other.create();
  const [own] = (await seenBy(parent)).slice(-1);
  const [others] = (await seenBy(other)).slice(-1);
  t.equal((await parent.call('GET', `/events/${own?.id ?? ''}`)).status, 200);
  const missing = await parent.call('GET', '/events/0197b7e0-0000-7000-8000-000000000000');
  t.match(missing, { status: 404, body: { code: 'not_found' } });
  for (const event of [others?.id ?? '', 'x', own?.id.slice(1) ?? '']) {
    const { body, status } = await parent.call('GET', `/events/${event}`);
    t.equal(status, 404);
    t.equal(body['detail'], missing.body['detail']);
  }
  t.same((await parent.call('GET', `/events?sub_account_id=${foreign}`)).body['data'], []);
  t.equal(((await parent.call('GET', `/events?sub_account_id=${id}`)).body['data'] as Event[]).length, 1);
  t.match(await parent.call('GET', `/events?account_id=${other.id}`), { status: 400 });

  const writer = await apis.parent(['sub_accounts:write']);
  t.match(await writer.call('GET', '/events'), { status: 403, body: { code: 'insufficient_scope' } });
  const child = await (await parent.create()).mint(['sub_accounts:read'].slice(1));
  t.match(await apis.call('GET', '/v1/sub-accounts/events', { key: child }), {
    status: 403,
    body: { code: 'parent_key_required' },
  });
});

t.test('`events` is no sub-account, and takes GET alone', async (t) => {
  const parent = await apis.parent();
  for (const path of ['/events', '/events/0197b7e0-0000-7000-8000-000000000000']) {
    for (const method of ['POST', 'PATCH', 'DELETE', 'PUT']) {
      const { status, headers } = await parent.call(method, path, { body: {} });
      t.equal(status, 405, `${method} ${path}`);
      t.match(headers['allow'], /^GET, HEAD/);
    }
  }
  t.equal((await parent.call('GET', '/events/x/y')).status, 404);
  t.equal((await apis.operator('DELETE', '/events')).status, 405);
});

t.test('lists are paged and filtered, and say what they do not understand', async (t) => {
  const parent = await apis.parent();
  const created = [];
  for (let i = 0; i < 4; i += 1) created.push(await parent.create());
  await created[1]?.act('deactivate');
  const all = (await seenBy(parent)).toReversed();
  t.equal(all.length, 7);

  for (const read of [
    (query: string) => parent.call('GET', `/events?${query}`),
    (query: string) => apis.operator('GET', `/events?account_id=${parent.id}&${query}`),
  ]) {
    const ids: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await read(`limit=2${cursor}`);
      ids.push(...(body['data'] as Event[]).map(({ id }) => id));
      const next = body['next_cursor'] as string | null;
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    t.same(
      ids,
      all.map(({ id }) => id),
    );
    const types = async (query: string) =>
      ((await read(query)).body['data'] as Event[]).map(({ type }) => type);
    t.same(await types('type=sub_account.deactivated'), ['sub_account.deactivated']);
    t.same(await types(`sub_account_id=${created[1]?.id.toUpperCase() ?? ''}`), [
      'sub_account.deactivated',
      'sub_account.created',
    ]);
    const [newest] = all;
    t.equal((await types(`to=${newest?.created_at ?? ''}`)).includes('sub_account.deactivated'), false);
    t.equal((await types(`from=${newest?.created_at ?? ''}`))[0], 'sub_account.deactivated');
    t.same(await types('to=2020-01-01'), []);

    for (const bad of [
      ...[
        'type=account.gone',
        'type=account',
        'from=yesterday',
        'to=x',
        'sub_account_id=x',
        'limit=0',
        'limit=101',
      ],
      ...['from=2026-01-02&to=2026-01-02', 'from=2026-01-02&to=2026-01-01', 'cursor=x', 'unknown=1'],
    ])
      t.match(await read(bad), { status: 400, body: { code: 'invalid_request' } }, bad);
    const { body } = await read('limit=2');
    t.equal((await read(`limit=2&type=account.created&cursor=${String(body['next_cursor'])}`)).status, 400);
  }
  t.match(await apis.operator('GET', '/events?account_id=x'), { status: 400 });
  t.match((await apis.operator('GET', '/events?limit=1')).body, {
    data: [{ id: all[0]?.id }],
    has_more: true,
  });
});

t.test('no secret stands in an event, whatever was sent where', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  const secrets = [parent.key, await child.mint(['a:b'])];
  const minted = await parent.call('POST', `/${child.id}/api-keys`, {
    body: { name: 'k' },
    headers: { 'idempotency-key': 'canary-of-an-idempotency-key', 'x-request-id': 'request' },
  });
  const imported = 'canary_of_an_imported_key_0123456789';
  await apis.operator('POST', `/accounts/${parent.id}/api-keys/import`, {
    body: { keys: [{ api_key: imported, name: 'imported', prefix: 'canary_of' }] },
  });
  secrets.push(String(minted.body['api_key']), String(minted.body['client_secret']), imported);
  secrets.push(...Object.values(tokens), 'canary-of-an-idempotency-key');
  await parent.call('POST', `/${child.id}/api-keys/${String(minted.body['id'])}/revoke`);
  const text = [
    (await parent.call('GET', '/events?limit=100')).text,
    (await apis.operator('GET', '/events?limit=100')).text,
  ].join('\n');
  t.match(text, /"api_key\.revoked"/);
  for (const secret of secrets) {
    t.notOk(text.includes(secret), secret.slice(0, 6));
    const digest = createHash('sha256').update(secret);
    const bytes = digest.digest();
    for (const form of ['hex', 'base64', 'base64url'] as const)
      t.notOk(text.includes(bytes.toString(form)), form);
  }
});
